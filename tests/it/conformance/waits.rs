//! Expectations of jobs, and durable timers.

use latchwork_core::awaited::{Awaited, AwaitedState, NotAwaited, TimerWrite};
use latchwork_core::ids::{Hash, Slot};
use latchwork_core::job::JobState;
use latchwork_core::storage::{Clock, InboxError, Request, StatusWrite, WriteError};

use super::world::{Log, World, new_job};

fn signal(key: &str) -> Request {
    Request::Signal { key: key.to_owned(), payload: "1".to_owned() }
}

fn wait(key: Option<&str>, state: AwaitedState, until_us: Option<i64>) -> Awaited {
    Awaited { name: "wait/s".to_owned(), key: key.map(str::to_owned), state, until_us }
}

async fn awaits(world: &World, log: &mut Log, awaited: Awaited) {
    let mut batch = log.append(1);
    batch.awaited = vec![awaited];
    world.store.write(batch).await.unwrap();
}

async fn arm(world: &World, log: &mut Log, name: &str, due_us: Option<i64>) {
    let mut batch = log.append(1);
    batch.timers = vec![TimerWrite { name: name.to_owned(), due_us }];
    world.store.write(batch).await.unwrap();
}

async fn ask(world: &World, log: &Log, request: Request) -> Result<i64, NotAwaited> {
    match world.store.put_inbox(&log.job_id, "ann", None, request).await {
        Ok(id) => Ok(id),
        Err(InboxError::NotAwaited { why, .. }) => Err(why),
        Err(other) => panic!("{other}"),
    }
}

/// I25.
pub(super) async fn a_signal_is_taken_while_it_is_wanted(world: World) {
    let mut new = new_job("one");
    new.claim = Some(world.claimer("w"));
    new.awaited = vec![wait(Some("k"), AwaitedState::Pending, None)];
    let mut log = Log::of(&new);
    log.attempt = 1;
    world.store.submit(new).await.unwrap();
    ask(&world, &log, signal("k")).await.unwrap();
    assert_eq!(ask(&world, &log, signal("x")).await, Err(NotAwaited::UnknownKey("x".to_owned())));
    awaits(&world, &mut log, wait(None, AwaitedState::Pending, None)).await;
    ask(&world, &log, signal("x")).await.unwrap();
    let until_us = world.clock.now_us() + 5_000_000;
    awaits(&world, &mut log, wait(Some("k"), AwaitedState::Open, Some(until_us))).await;
    ask(&world, &log, signal("k")).await.unwrap();
    world.clock.advance_ms(5_000);
    let late = Err(NotAwaited::TooLate("k".to_owned()));
    assert_eq!(ask(&world, &log, signal("k")).await, late, "the timeout has passed, even if that is not recorded");
    awaits(&world, &mut log, wait(Some("k"), AwaitedState::Over, None)).await;
    assert_eq!(ask(&world, &log, signal("k")).await, late);
    awaits(&world, &mut log, wait(Some("k"), AwaitedState::Done, None)).await;
    let duplicate = ask(&world, &log, signal("k")).await.unwrap();

    let done: Vec<i64> = world.store.inbox(&log.job_id).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!((done.len(), done.last()), (4, Some(&duplicate)), "refused requests are not stored");
    let mut ending = log.ending(JobState::Completed, None);
    ending.inbox_done = done;
    world.store.write(ending).await.unwrap();
    let before = world.row(&log).await;
    ask(&world, &log, signal("k")).await.unwrap();
    assert!(world.store.inbox(&log.job_id).await.unwrap().is_empty(), "the duplicate is accepted but not stored");
    assert_eq!(world.row(&log).await, before, "the job row is unchanged");
    let over = world.store.put_inbox(&log.job_id, "ann", None, signal("x")).await;
    assert_eq!(over, Err(InboxError::Over { job_id: log.job_id.clone(), state: JobState::Completed }));
}

/// I20.
pub(super) async fn a_decision_is_taken_for_the_call_that_was_shown(world: World) {
    let mut log = world.running("one").await;
    let (hash, slot) = (Hash::of(&[b"call"]), Slot::new("s/1"));
    let approve = |gate_hash| Request::Approve { slot: Slot::new("s/1"), gate_hash };
    ask(&world, &log, approve(hash)).await.unwrap();
    let gate = |state| Awaited { name: "gate/s/1".to_owned(), key: Some(hash.to_hex()), state, until_us: None };
    awaits(&world, &mut log, gate(AwaitedState::Open)).await;
    ask(&world, &log, approve(hash)).await.unwrap();
    let stale = ask(&world, &log, approve(Hash::default())).await;
    assert_eq!(stale, Err(NotAwaited::OtherCall { slot: slot.clone(), hash: hash.to_hex() }));
    awaits(&world, &mut log, gate(AwaitedState::Done)).await;
    assert_eq!(ask(&world, &log, approve(hash)).await, Err(NotAwaited::GateClosed(slot.clone())));
    let reject = Request::Reject { slot: slot.clone(), gate_hash: hash };
    assert_eq!(ask(&world, &log, reject).await, Err(NotAwaited::GateClosed(slot)));
}

/// I26.
pub(super) async fn a_timer_fires_once_and_not_early_in_any_state(world: World) {
    let mut logs = Vec::new();
    for (name, to) in
        [("a", JobState::Running), ("b", JobState::Waiting), ("c", JobState::Parked), ("d", JobState::Diverged)]
    {
        let mut log = world.running(name).await;
        let due_us = world.clock.now_us() + 1_000_000;
        arm(&world, &mut log, "wait/s", Some(due_us)).await;
        if to != JobState::Running {
            world.store.write(log.ending(to, Some(i64::MAX))).await.unwrap();
        }
        logs.push((log, to, due_us));
    }
    world.clock.advance_ms(999);
    let next_us = world.store.fire_timers().await.unwrap();
    assert_eq!(next_us, Some(logs[0].2));
    for (log, to, _) in &logs {
        let row = world.row(log).await;
        assert_eq!((row.state, row.inbox_pending), (*to, false), "the timer does not fire early");
    }
    world.clock.advance_ms(1);
    assert_eq!(world.store.fire_timers().await.unwrap(), None);
    assert_eq!(world.store.fire_timers().await.unwrap(), None);
    for (log, to, due_us) in &logs {
        let row = world.row(log).await;
        let now = if *to == JobState::Running { JobState::Running } else { JobState::Pending };
        assert_eq!((row.state, row.inbox_pending, row.wake_at_us), (now, true, None), "{to:?}");
        let rows = world.store.inbox(&log.job_id).await.unwrap();
        let fired: Vec<_> = rows.iter().map(|row| &row.request).collect();
        assert_eq!(fired, [&Request::Timer { name: "wait/s".to_owned(), due_us: *due_us }], "the timer fires once");
    }
}

/// I26.
pub(super) async fn a_timer_that_is_due_fires_no_other(world: World) {
    let (mut one, mut two) = (world.running("one").await, world.running("two").await);
    let now_us = world.clock.now_us();
    arm(&world, &mut one, "wait/a", Some(now_us + 1_000)).await;
    arm(&world, &mut one, "wait/b", Some(now_us + 9_000)).await;
    arm(&world, &mut two, "wait/a", Some(now_us + 9_001)).await;
    world.clock.advance_ms(1);
    assert_eq!(world.store.fire_timers().await.unwrap(), Some(now_us + 9_000));
    let rows = world.store.inbox(&one.job_id).await.unwrap();
    let fired: Vec<_> = rows.iter().map(|row| &row.request).collect();
    assert_eq!(fired, [&Request::Timer { name: "wait/a".to_owned(), due_us: now_us + 1_000 }]);
    assert!(!world.row(&two).await.inbox_pending);
}

/// I26: the timer of a job that is over fires no request and is removed.
pub(super) async fn a_timer_of_a_job_that_is_over_tells_nobody(world: World) {
    let (mut over, mut open) = (world.running("over").await, world.running("open").await);
    for log in [&mut over, &mut open] {
        arm(&world, log, "wait/s", Some(world.clock.now_us() + 1_000)).await;
    }
    world.store.write(over.ending(JobState::Failed, None)).await.unwrap();
    let before = world.row(&over).await;
    world.clock.advance_ms(5);
    assert_eq!(world.store.fire_timers().await.unwrap(), None);
    assert_eq!(world.row(&over).await, before);
    assert!(world.store.inbox(&over.job_id).await.unwrap().is_empty());
    assert!(world.row(&open).await.inbox_pending, "timers of other jobs fire");
}

/// I26.
pub(super) async fn a_claim_fires_what_is_due(world: World) {
    let mut log = world.running("one").await;
    arm(&world, &mut log, "wait/s", Some(world.clock.now_us() + 1_000)).await;
    world.store.write(log.ending(JobState::Parked, None)).await.unwrap();
    assert!(world.store.claim(&world.claimer("early")).await.unwrap().is_none());
    world.clock.advance_ms(1);
    let claim = world.store.claim(&world.claimer("late")).await.unwrap().unwrap();
    assert_eq!((claim.row.job_id, claim.row.inbox_pending), (log.job_id.clone(), true));
    assert_eq!(world.store.inbox(&log.job_id).await.unwrap().len(), 1);
}

/// I26.
pub(super) async fn a_timer_that_is_taken_away_or_armed_anew_does_not_fire(world: World) {
    let mut log = world.running("one").await;
    let now_us = world.clock.now_us();
    arm(&world, &mut log, "wait/a", Some(now_us + 1_000)).await;
    arm(&world, &mut log, "wait/b", Some(now_us + 1_000)).await;
    arm(&world, &mut log, "wait/a", None).await;
    arm(&world, &mut log, "wait/b", Some(now_us + 9_000)).await;
    world.clock.advance_ms(5);
    assert_eq!(world.store.fire_timers().await.unwrap(), Some(now_us + 9_000));
    assert!(world.store.inbox(&log.job_id).await.unwrap().is_empty());
}

/// I25: ending a wait by its timeout is refused while another request is unread.
pub(super) async fn an_end_by_time_waits_for_every_request(world: World) {
    let mut log = world.running("one").await;
    let until_us = world.clock.now_us() + 1_000;
    let mut batch = log.append(1);
    batch.awaited = vec![wait(Some("k"), AwaitedState::Open, Some(until_us))];
    batch.timers = vec![TimerWrite { name: "wait/s".to_owned(), due_us: Some(until_us) }];
    world.store.write(batch).await.unwrap();
    let signal_id = ask(&world, &log, signal("k")).await.unwrap();
    world.clock.advance_ms(1);
    world.store.fire_timers().await.unwrap();
    let timer_id = world.store.inbox(&log.job_id).await.unwrap()[1].id;
    let mut end = log.clone().append(1);
    (end.drained, end.inbox_done) = (true, vec![timer_id]);
    assert_eq!(world.store.write(end).await, Err(WriteError::InboxPending));
    let mut read = log.append(1);
    read.inbox_done = vec![signal_id];
    world.store.write(read).await.unwrap();
    // Requests that are known to be compatible with the timeout do not block it.
    let other_id = ask(&world, &log, Request::Continue).await.unwrap();
    let mut end = log.clone().append(1);
    (end.drained, end.inbox_done) = (true, vec![timer_id]);
    assert_eq!(world.store.write(end).await, Err(WriteError::InboxPending));
    let mut end = log.append(1);
    (end.drained, end.inbox_done, end.beside) = (true, vec![timer_id], vec![other_id]);
    world.store.write(end).await.unwrap();
}

/// I25, I26: a signal or a timer arrives at the moment its job parks or ends. Either the request is refused,
/// or the job is claimable and has the request.
pub(super) async fn what_is_acknowledged_while_a_job_comes_to_rest_is_not_lost(world: World) {
    for round in 0..40 {
        let mut log = world.running(&format!("r{round}")).await;
        let now_us = world.clock.now_us();
        let mut batch = log.append(1);
        batch.awaited = vec![wait(Some("k"), AwaitedState::Open, None)];
        batch.timers = vec![TimerWrite { name: "wait/t".to_owned(), due_us: Some(now_us) }];
        world.store.write(batch).await.unwrap();
        let to = if round % 2 == 0 { JobState::Parked } else { JobState::Completed };
        let mut resting = log.append(1);
        resting.status = Some(StatusWrite { to, wake_at_us: None });
        if to == JobState::Completed {
            resting.awaited = vec![wait(Some("k"), AwaitedState::Over, None)];
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
        let row = world.row(&log).await;
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
        // Clears the timers of this round, so that they do not fire in the next one.
        world.clock.advance_ms(1);
        world.store.fire_timers().await.unwrap();
    }
}
