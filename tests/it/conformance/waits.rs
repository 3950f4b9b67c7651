//! Requests that jobs expect, such as signals and gate decisions, and durable timers.

use latchwork_core::model::ids::{Hash, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::storage::expectation::{Expectation, ExpectationState, TimerWrite};
use latchwork_core::storage::{BatchKind, Clock, InboxError, InboxRequest, NotExpected, WriteError};

use crate::support::store_fixture::{LogWriter, StoreFixture, new_job};

fn signal(key: &str) -> InboxRequest {
    InboxRequest::Signal { key: key.to_owned(), payload: "1".to_owned() }
}

fn awaited_signal(key: Option<&str>, state: ExpectationState, until_us: Option<i64>) -> Expectation {
    Expectation { name: "wait/s".to_owned(), key: key.map(str::to_owned), state, until_us }
}

async fn write_awaited(world: &StoreFixture, log: &mut LogWriter, awaited: Expectation) {
    let mut batch = log.append(1);
    batch.expectations = vec![awaited];
    world.store.write(batch).await.unwrap();
}

async fn arm_timer(world: &StoreFixture, log: &mut LogWriter, name: &str, due_us: Option<i64>) {
    let mut batch = log.append(1);
    batch.timers = vec![TimerWrite { name: name.to_owned(), due_us }];
    world.store.write(batch).await.unwrap();
}

async fn put_request(world: &StoreFixture, log: &LogWriter, request: InboxRequest) -> Result<i64, NotExpected> {
    match world.store.put_inbox(&log.job_id, "ann", None, request).await {
        Ok(id) => Ok(id),
        Err(InboxError::NotAwaited { why, .. }) => Err(why),
        Err(other) => panic!("{other}"),
    }
}

/// I25.
pub(super) async fn signals_are_accepted_while_awaited_and_duplicates_always(world: StoreFixture) {
    let mut new = new_job("one");
    new.claim = Some(world.lease_request("w"));
    new.expectations = vec![awaited_signal(Some("k"), ExpectationState::Pending, None)];
    let mut log = LogWriter::of(&new);
    log.attempt = 1;
    world.store.submit(new).await.unwrap();
    put_request(&world, &log, signal("k")).await.unwrap();
    assert_eq!(put_request(&world, &log, signal("x")).await, Err(NotExpected::UnknownKey("x".to_owned())));
    write_awaited(&world, &mut log, awaited_signal(None, ExpectationState::Pending, None)).await;
    put_request(&world, &log, signal("x")).await.unwrap();
    let until_us = world.clock.now_us() + 5_000_000;
    write_awaited(&world, &mut log, awaited_signal(Some("k"), ExpectationState::Open, Some(until_us))).await;
    put_request(&world, &log, signal("k")).await.unwrap();
    world.clock.advance_ms(5_000);
    let late = Err(NotExpected::TooLate("k".to_owned()));
    assert_eq!(
        put_request(&world, &log, signal("k")).await,
        late,
        "the timeout has passed, even if that is not recorded"
    );
    write_awaited(&world, &mut log, awaited_signal(Some("k"), ExpectationState::Over, None)).await;
    assert_eq!(put_request(&world, &log, signal("k")).await, late);
    write_awaited(&world, &mut log, awaited_signal(Some("k"), ExpectationState::Done, None)).await;
    let duplicate = put_request(&world, &log, signal("k")).await.unwrap();

    let done: Vec<i64> = world.store.inbox(&log.job_id).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!((done.len(), done.last()), (4, Some(&duplicate)), "refused requests are not stored");
    let mut ending = log.ending(JobState::Completed, None);
    ending.writes.inbox_done = done;
    world.store.write(ending).await.unwrap();
    let before = world.job_row(&log).await;
    put_request(&world, &log, signal("k")).await.unwrap();
    assert!(world.store.inbox(&log.job_id).await.unwrap().is_empty(), "the duplicate is accepted but not stored");
    assert_eq!(world.job_row(&log).await, before, "the job row is unchanged");
    let over = world.store.put_inbox(&log.job_id, "ann", None, signal("x")).await;
    assert_eq!(over, Err(InboxError::WrongState { job_id: log.job_id.clone(), state: JobState::Completed }));
}

/// I20.
pub(super) async fn gate_decision_is_accepted_only_for_the_gated_call(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let (hash, slot) = (Hash::of(&[b"call"]), Slot::new("s/1"));
    let approve = |gate_hash| InboxRequest::Approve { slot: Slot::new("s/1"), gate_hash };
    put_request(&world, &log, approve(hash)).await.unwrap();
    let gate = |state| Expectation { name: "gate/s/1".to_owned(), key: Some(hash.to_hex()), state, until_us: None };
    write_awaited(&world, &mut log, gate(ExpectationState::Open)).await;
    put_request(&world, &log, approve(hash)).await.unwrap();
    let stale = put_request(&world, &log, approve(Hash::default())).await;
    assert_eq!(stale, Err(NotExpected::OtherCall { slot: slot.clone(), hash: hash.to_hex() }));
    write_awaited(&world, &mut log, gate(ExpectationState::Done)).await;
    assert_eq!(put_request(&world, &log, approve(hash)).await, Err(NotExpected::GateClosed(slot.clone())));
    let reject = InboxRequest::Reject { slot: slot.clone(), gate_hash: hash };
    assert_eq!(put_request(&world, &log, reject).await, Err(NotExpected::GateClosed(slot)));
}

/// I26.
pub(super) async fn timer_fires_once_and_not_early_in_any_state(world: StoreFixture) {
    let mut logs = Vec::new();
    for (name, to) in
        [("a", JobState::Running), ("b", JobState::Waiting), ("c", JobState::Parked), ("d", JobState::Diverged)]
    {
        let mut log = world.claimed_job(name).await;
        let due_us = world.clock.now_us() + 1_000_000;
        arm_timer(&world, &mut log, "wait/s", Some(due_us)).await;
        if to != JobState::Running {
            world.store.write(log.ending(to, Some(i64::MAX))).await.unwrap();
        }
        logs.push((log, to, due_us));
    }
    world.clock.advance_ms(999);
    let next_us = world.store.fire_timers().await.unwrap();
    assert_eq!(next_us, Some(logs[0].2));
    for (log, to, _) in &logs {
        let row = world.job_row(log).await;
        assert_eq!((row.state, row.inbox_pending), (*to, false), "the timer does not fire early");
    }
    world.clock.advance_ms(1);
    assert_eq!(world.store.fire_timers().await.unwrap(), None);
    assert_eq!(world.store.fire_timers().await.unwrap(), None);
    for (log, to, due_us) in &logs {
        let row = world.job_row(log).await;
        let now = if *to == JobState::Running { JobState::Running } else { JobState::Pending };
        assert_eq!((row.state, row.inbox_pending, row.wake_at_us), (now, true, None), "{to:?}");
        let rows = world.store.inbox(&log.job_id).await.unwrap();
        let fired: Vec<_> = rows.iter().map(|row| &row.request).collect();
        assert_eq!(
            fired,
            [&InboxRequest::Timer { name: "wait/s".to_owned(), due_us: *due_us }],
            "the timer fires once"
        );
    }
}

/// I26.
pub(super) async fn due_timer_fires_no_other_timer(world: StoreFixture) {
    let (mut one, mut two) = (world.claimed_job("one").await, world.claimed_job("two").await);
    let now_us = world.clock.now_us();
    arm_timer(&world, &mut one, "wait/a", Some(now_us + 1_000)).await;
    arm_timer(&world, &mut one, "wait/b", Some(now_us + 9_000)).await;
    arm_timer(&world, &mut two, "wait/a", Some(now_us + 9_001)).await;
    world.clock.advance_ms(1);
    assert_eq!(world.store.fire_timers().await.unwrap(), Some(now_us + 9_000));
    let rows = world.store.inbox(&one.job_id).await.unwrap();
    let fired: Vec<_> = rows.iter().map(|row| &row.request).collect();
    assert_eq!(fired, [&InboxRequest::Timer { name: "wait/a".to_owned(), due_us: now_us + 1_000 }]);
    assert!(!world.job_row(&two).await.inbox_pending);
}

/// I26: the timer of a job that is over fires no request and is removed.
pub(super) async fn timer_of_an_ended_job_does_not_fire(world: StoreFixture) {
    let (mut over, mut open) = (world.claimed_job("over").await, world.claimed_job("open").await);
    for log in [&mut over, &mut open] {
        arm_timer(&world, log, "wait/s", Some(world.clock.now_us() + 1_000)).await;
    }
    world.store.write(over.ending(JobState::Failed, None)).await.unwrap();
    let before = world.job_row(&over).await;
    world.clock.advance_ms(5);
    assert_eq!(world.store.fire_timers().await.unwrap(), None);
    assert_eq!(world.job_row(&over).await, before);
    assert!(world.store.inbox(&over.job_id).await.unwrap().is_empty());
    assert!(world.job_row(&open).await.inbox_pending, "timers of other jobs fire");
}

/// I26.
pub(super) async fn claim_fires_due_timers(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    arm_timer(&world, &mut log, "wait/s", Some(world.clock.now_us() + 1_000)).await;
    world.store.write(log.ending(JobState::Parked, None)).await.unwrap();
    assert!(world.store.claim(&world.lease_request("early")).await.unwrap().is_none());
    world.clock.advance_ms(1);
    let claim = world.store.claim(&world.lease_request("late")).await.unwrap().unwrap();
    assert_eq!((claim.row.job_id, claim.row.inbox_pending), (log.job_id.clone(), true));
    assert_eq!(world.store.inbox(&log.job_id).await.unwrap().len(), 1);
}

/// I26.
pub(super) async fn removed_or_rearmed_timer_does_not_fire(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let now_us = world.clock.now_us();
    arm_timer(&world, &mut log, "wait/a", Some(now_us + 1_000)).await;
    arm_timer(&world, &mut log, "wait/b", Some(now_us + 1_000)).await;
    arm_timer(&world, &mut log, "wait/a", None).await;
    arm_timer(&world, &mut log, "wait/b", Some(now_us + 9_000)).await;
    world.clock.advance_ms(5);
    assert_eq!(world.store.fire_timers().await.unwrap(), Some(now_us + 9_000));
    assert!(world.store.inbox(&log.job_id).await.unwrap().is_empty());
}

/// I25: ending a wait by its timeout is refused while another request is unread.
pub(super) async fn timeout_of_a_wait_is_refused_while_requests_are_unread(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let until_us = world.clock.now_us() + 1_000;
    let mut batch = log.append(1);
    batch.expectations = vec![awaited_signal(Some("k"), ExpectationState::Open, Some(until_us))];
    batch.timers = vec![TimerWrite { name: "wait/s".to_owned(), due_us: Some(until_us) }];
    world.store.write(batch).await.unwrap();
    let signal_id = put_request(&world, &log, signal("k")).await.unwrap();
    world.clock.advance_ms(1);
    world.store.fire_timers().await.unwrap();
    let timer_id = world.store.inbox(&log.job_id).await.unwrap()[1].id;
    let mut end = log.clone().append(1);
    (end.writes.kind, end.writes.inbox_done) =
        (BatchKind::EndWait { compatible_inbox_ids: Vec::new() }, vec![timer_id]);
    assert_eq!(world.store.write(end).await, Err(WriteError::InboxPending));
    let mut read = log.append(1);
    read.writes.inbox_done = vec![signal_id];
    world.store.write(read).await.unwrap();
    // A batch may list unread requests as compatible with the timeout. These requests do not block the timeout.
    let other_id = put_request(&world, &log, InboxRequest::Continue).await.unwrap();
    let mut end = log.clone().append(1);
    (end.writes.kind, end.writes.inbox_done) =
        (BatchKind::EndWait { compatible_inbox_ids: Vec::new() }, vec![timer_id]);
    assert_eq!(world.store.write(end).await, Err(WriteError::InboxPending));
    let mut end = log.append(1);
    (end.writes.kind, end.writes.inbox_done) =
        (BatchKind::EndWait { compatible_inbox_ids: vec![other_id] }, vec![timer_id]);
    world.store.write(end).await.unwrap();
}

/// I25, I26: a signal or a timer arrives while its job parks or ends. Either the request is refused, or the job is
/// claimable and has the request.
pub(super) async fn request_acknowledged_while_a_job_settles_is_not_lost(world: StoreFixture) {
    for round in 0..40 {
        let mut log = world.claimed_job(&format!("r{round}")).await;
        let now_us = world.clock.now_us();
        let mut batch = log.append(1);
        batch.expectations = vec![awaited_signal(Some("k"), ExpectationState::Open, None)];
        batch.timers = vec![TimerWrite { name: "wait/t".to_owned(), due_us: Some(now_us) }];
        world.store.write(batch).await.unwrap();
        let to = if round % 2 == 0 { JobState::Parked } else { JobState::Completed };
        let mut resting = log.ending(to, None);
        if to == JobState::Completed {
            resting.expectations = vec![awaited_signal(Some("k"), ExpectationState::Over, None)];
            resting.timers = vec![TimerWrite { name: "wait/t".to_owned(), due_us: None }];
        }
        let (store, id) = (world.store.clone(), log.job_id.clone());
        let asking = tokio::spawn(async move {
            match round % 4 {
                0 | 1 => store.put_inbox(&id, "ann", None, signal("k")).await.is_ok(),
                _ => store.fire_timers().await.is_ok(),
            }
        });
        let rested = world.store.write(resting).await;
        let acknowledged = asking.await.unwrap();
        let rows = world.store.inbox(&log.job_id).await.unwrap();
        let row = world.job_row(&log).await;
        match rested {
            Ok(()) if to == JobState::Completed => {
                assert_eq!((row.state, rows.len()), (JobState::Completed, 0), "round {round}");
                assert!(round % 4 != 1 || !acknowledged, "a request that came too late is not acknowledged");
            }
            Ok(()) => assert_eq!((row.state, rows.len(), acknowledged), (JobState::Pending, 1, true), "round {round}"),
            Err(error) => {
                assert_eq!((error, row.state), (WriteError::InboxPending, JobState::Running));
                assert_eq!(rows.len(), 1, "round {round}");
            }
        }
        // Fires the timers of this round, so that they do not fire in the next round.
        world.clock.advance_ms(1);
        world.store.fire_timers().await.unwrap();
    }
}
