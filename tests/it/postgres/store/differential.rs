//! Random operations on the model in memory, on SQLite and on PostgreSQL. All answers and all stored contents
//! must be equal, including hashes.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use latchwork_core::event::{Body, Event};
use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::ids::{Hash, JobId, Operator, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::cost::CostGrouping;
use latchwork_core::rules::ledger::RowState;
use latchwork_core::storage::expectation::TimerWrite;
use latchwork_core::storage::{
    ActionWrite, AttemptEnd, Batch, BatchKind, InboxRequest, JobFilter, LeaseRequest, LedgerWrite, MapName, StoredJob,
};
use latchwork_store::{Database, OpenOptions, OwnerLock};

use crate::support::servers::postgres::server::database;
use crate::support::store_fixture::{LEASE_MS, MARGIN_MS, Store, effect, ledger_row, new_job, payload};

const JOBS: u8 = 3;
const WORKERS: u8 = 2;
const MAPS: u8 = 3;
const KEYS: u8 = 3;

/// Contents of a batch besides its events.
#[derive(Clone, Debug)]
enum BatchPart {
    Insert(u8),
    Commit(u8),
    Effect(u8, u8),
    Payload(u8, u8),
    Reserve(u8, u8),
    Settle(u8, bool),
    TakeBack(u8),
    Wait(u8),
    Timer(u8, Option<u32>),
    Drain,
    Status(JobState),
    Acquire,
    Audit,
    Drained,
    /// `Stale` makes the batch a write of a superseded attempt. `WrongLogEnd` makes the batch expect another end of the
    /// log.
    Stale,
    WrongLogEnd,
}

/// An entry of a key-value map: the number of the map and of the key.
#[derive(Clone, Copy, Debug)]
struct MapEntry {
    map: u8,
    key: u8,
}

impl MapEntry {
    /// Maps of two tenants and the map of all tenants, in the same namespace.
    fn map(self) -> MapName {
        let own = |tenant| MapName::of_tenant(tenant, "n").unwrap();
        [own("acme"), own("umbrella"), MapName::shared("n")][usize::from(self.map)].clone()
    }

    fn key(self) -> String {
        format!("a\0{}", self.key)
    }
}

#[derive(Clone, Debug)]
enum StoreOperation {
    Submit(u8, Option<u8>),
    Claim(u8),
    ClaimJob(u8, u8),
    Heartbeat(u8),
    Write(u8, u8, Vec<BatchPart>),
    /// Batches of two jobs in one group.
    Both(Vec<BatchPart>, Vec<BatchPart>),
    Ask(u8, u8),
    Pass(u32),
    Kill(u8),
    Fire,
    Late(u8, u8, u8),
    /// Sets a value. The numbers are the length of the value in bytes, and the quota in units of 100 bytes.
    Set(MapEntry, u8, u8),
    Forget(MapEntry),
}

fn any_part() -> impl Strategy<Value = BatchPart> {
    let small = 0..2_u8;
    let state = prop::sample::select(vec![
        JobState::Pending,
        JobState::Waiting,
        JobState::Parked,
        JobState::Diverged,
        JobState::Completed,
        JobState::Failed,
        JobState::Partial,
    ]);
    prop_oneof![
        small.clone().prop_map(BatchPart::Insert),
        small.clone().prop_map(BatchPart::Commit),
        (0..2_u8, 0..2_u8).prop_map(|(slot, value)| BatchPart::Effect(slot, value)),
        (0..2_u8, 0..2_u8).prop_map(|(label, value)| BatchPart::Payload(label, value)),
        (0..2_u8, 0..2_u8).prop_map(|(key, args)| BatchPart::Reserve(key, args)),
        (0..2_u8, any::<bool>()).prop_map(|(key, done)| BatchPart::Settle(key, done)),
        small.clone().prop_map(BatchPart::TakeBack),
        small.clone().prop_map(BatchPart::Wait),
        (0..2_u8, prop::option::of(0..20_000_u32)).prop_map(|(name, due)| BatchPart::Timer(name, due)),
        Just(BatchPart::Drain),
        state.prop_map(BatchPart::Status),
        Just(BatchPart::Acquire),
        Just(BatchPart::Audit),
        Just(BatchPart::Drained),
        Just(BatchPart::Stale),
        Just(BatchPart::WrongLogEnd),
    ]
}

fn any_entry() -> impl Strategy<Value = MapEntry> {
    (0..MAPS, 0..KEYS).prop_map(|(map, key)| MapEntry { map, key })
}

fn any_operation() -> impl Strategy<Value = StoreOperation> {
    let parts = || prop::collection::vec(any_part(), 0..3);
    prop_oneof![
        3 => (0..JOBS, prop::option::of(0..WORKERS)).prop_map(|(job, worker)| StoreOperation::Submit(job, worker)),
        2 => (0..WORKERS).prop_map(StoreOperation::Claim),
        2 => (0..JOBS, 0..WORKERS).prop_map(|(job, worker)| StoreOperation::ClaimJob(job, worker)),
        1 => (0..JOBS).prop_map(StoreOperation::Heartbeat),
        12 => (0..JOBS, 0..3_u8, parts()).prop_map(|(job, events, parts)| StoreOperation::Write(job, events, parts)),
        3 => (parts(), parts()).prop_map(|(one, other)| StoreOperation::Both(one, other)),
        4 => (0..JOBS, 0..7_u8).prop_map(|(job, what)| StoreOperation::Ask(job, what)),
        2 => (1..20_000_u32).prop_map(StoreOperation::Pass),
        1 => (0..WORKERS).prop_map(StoreOperation::Kill),
        1 => Just(StoreOperation::Fire),
        2 => (0..=JOBS, 0..2_u8, 0..2_u8).prop_map(|(job, slot, value)| StoreOperation::Late(job, slot, value)),
        4 => (any_entry(), 0..60_u8, 1..4_u8).prop_map(|(of, length, quota)| StoreOperation::Set(of, length, quota)),
        2 => any_entry().prop_map(StoreOperation::Forget),
    ]
}

/// All stores with the same clock and the same worker processes.
struct ComparedStores {
    clock: Arc<ManualClock>,
    stores: Vec<(&'static str, Arc<dyn Store>)>,
    workers: Vec<(LeaseRequest, Option<OwnerLock>)>,
    _dirs: [tempfile::TempDir; 3],
}

fn job_id(job: u8) -> JobId {
    JobId::new(format!("job_{job}"))
}

fn action_key(key: u8) -> Hash {
    Hash::of(&[b"key", &[key]])
}

/// Adds one part to a batch. The part `Drain` removes the inbox rows that the job has in `store`.
async fn add_part(batch: &mut Batch, store: &dyn Store, part: &BatchPart) {
    let (operator, slot) = (Operator::new("Mail.Send"), Slot::new("s0"));
    match part {
        BatchPart::Insert(slot) => {
            let row = ledger_row(&format!("s{slot}"), RowState::Inflight, batch.attempt);
            batch.writes.ledger.push(LedgerWrite::Insert(row));
        }
        BatchPart::Commit(slot) => {
            let row = ledger_row(&format!("s{slot}"), RowState::Committed, batch.attempt);
            let (expect, expect_try, expect_nonce) = (RowState::Inflight, 1, row.nonce);
            batch.writes.ledger.push(LedgerWrite::Update { expect, expect_try, expect_nonce, row });
        }
        BatchPart::Effect(slot, value) => batch.writes.effects.push(effect(&format!("s{slot}"), 1, &value.to_string())),
        BatchPart::Payload(label, value) => batch.writes.payloads.push(payload(&format!("output/{label}"), &[*value])),
        BatchPart::Reserve(of, args) => batch.writes.actions.push(ActionWrite::Reserve {
            operator,
            key: action_key(*of),
            args_hash: Hash::of(&[&[*args]]),
            slot,
        }),
        BatchPart::Settle(of, done) => batch.writes.actions.push(ActionWrite::Settle {
            operator,
            key: action_key(*of),
            slot,
            receipt: done.then(|| b"{}".to_vec()),
        }),
        BatchPart::TakeBack(of) => {
            let key = action_key(*of);
            batch.writes.actions.push(ActionWrite::WithdrawReceipt { operator, key, slot });
        }
        BatchPart::Wait(of) => {
            batch.writes.actions.push(ActionWrite::Wait { operator, key: action_key(*of) });
        }
        BatchPart::Timer(name, due_ms) => {
            let due_us = due_ms.map(|ms| 1_700_000_000_000_000 + i64::from(ms) * 1000);
            batch.timers.push(TimerWrite { name: format!("wait/s{name}"), due_us });
        }
        BatchPart::Drain => {
            batch.writes.inbox_done = store.inbox(&batch.job_id).await.unwrap().iter().map(|row| row.id).collect();
        }
        BatchPart::Status(to) => {
            let wake_at_us = Some(1_700_000_010_000_000);
            batch.writes.kind = match AttemptEnd::of(*to) {
                Some(AttemptEnd::Waiting { .. }) => BatchKind::EndAttempt(AttemptEnd::Waiting { wake_at_us }),
                Some(end) => BatchKind::EndAttempt(end),
                None => BatchKind::default(),
            };
        }
        BatchPart::Acquire => batch.writes.kind = BatchKind::START_CALLS,
        BatchPart::Audit => batch.writes.kind = BatchKind::Audit,
        BatchPart::Drained => batch.writes.kind = BatchKind::EndWait { compatible_inbox_ids: Vec::new() },
        BatchPart::Stale | BatchPart::WrongLogEnd => {}
    }
}

impl ComparedStores {
    async fn new(url: &str) -> Self {
        let clock = Arc::new(ManualClock::default());
        let dirs = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let with = |options: OpenOptions| OpenOptions { clock: Some(clock.clone()), ..options };
        let [file, server, locks] = &dirs;
        let sqlite = Database::open(with(OpenOptions::new(file.path().join("latch.db")))).await.unwrap();
        let postgres = Database::open(with(OpenOptions::server(url, server.path()))).await.unwrap();
        let stores: Vec<(&'static str, Arc<dyn Store>)> = vec![
            ("memory", Arc::new(Memory::new(clock.clone(), MARGIN_MS))),
            ("SQLite", sqlite),
            ("PostgreSQL", postgres),
        ];
        let workers = (0..WORKERS)
            .map(|number| {
                let name = format!("worker{number}");
                let lock = OwnerLock::acquire(locks.path(), &name, &name, &*clock).unwrap();
                (LeaseRequest { owner: lock.owner().clone(), lease_ms: LEASE_MS }, Some(lock))
            })
            .collect();
        Self { clock, stores, workers, _dirs: dirs }
    }

    /// Builds a batch from the job's state in the model. The part `Drain` removes the inbox rows that the job has in
    /// `store`.
    async fn batch(&self, store: &dyn Store, job: u8, events: u8, parts: &[BatchPart]) -> Batch {
        let job_id = job_id(job);
        let known = self.stores[0].1.job(&job_id).await.unwrap();
        let (attempt, seq, head) = known.map_or((1, 2, Hash::default()), |row| (row.attempt, row.next_seq, row.head));
        let mut batch = Batch::new(job_id.clone(), attempt, seq, head);
        if parts.iter().any(|part| matches!(part, BatchPart::Stale)) {
            batch.attempt = attempt.saturating_sub(1);
        }
        if parts.iter().any(|part| matches!(part, BatchPart::WrongLogEnd)) {
            batch.expect_seq += 1;
        }
        let (mut seq, mut head) = (batch.expect_seq, batch.expect_head);
        for _ in 0..events {
            let body = Body::StepStarted { step_id: format!("s{seq}").into() };
            let event = Event::seal(seq, 1_700_000_000_000_000, batch.attempt, body, head);
            (seq, head) = (seq + 1, event.hash);
            batch.writes.events.push(event);
        }
        for part in parts {
            add_part(&mut batch, store, part).await;
        }
        batch
    }

    /// Returns each store's answer as text, without values that are specific to the store.
    async fn answers(&mut self, op: &StoreOperation) -> Vec<String> {
        match op {
            StoreOperation::Pass(ms) => self.clock.advance_ms(*ms),
            StoreOperation::Kill(worker) => {
                let (claimer, lock) = &mut self.workers[usize::from(*worker)];
                self.clock.kill(&claimer.owner);
                drop(lock.take());
            }
            _ => {}
        }
        // A batch is built from the state of the model. The batches of all stores are therefore built before the model
        // applies its own batch.
        let mut batches = Vec::new();
        for (_, store) in &self.stores {
            batches.push(match op {
                StoreOperation::Write(job, events, parts) => vec![self.batch(&**store, *job, *events, parts).await],
                StoreOperation::Both(one, other) => {
                    vec![self.batch(&**store, 0, 1, one).await, self.batch(&**store, 1, 1, other).await]
                }
                _ => Vec::new(),
            });
        }
        let mut answers = Vec::new();
        for ((_, store), mut batches) in self.stores.iter().zip(batches) {
            let claimer = |worker: &u8| &self.workers[usize::from(*worker)].0;
            answers.push(match op {
                StoreOperation::Pass(_) | StoreOperation::Kill(_) => String::new(),
                StoreOperation::Submit(job, worker) => {
                    let mut new = new_job(&job.to_string());
                    new.claim = worker.as_ref().map(|worker| claimer(worker).clone());
                    format!("{:?}", store.submit(new).await)
                }
                StoreOperation::Claim(worker) => format!("{:?}", store.claim(claimer(worker)).await),
                StoreOperation::ClaimJob(job, worker) => {
                    format!("{:?}", store.claim_job(&job_id(*job), claimer(worker)).await)
                }
                StoreOperation::Heartbeat(job) => {
                    let attempt = store.job(&job_id(*job)).await.unwrap().map_or(1, |row| row.attempt);
                    format!("{:?}", store.heartbeat(&[(job_id(*job), attempt)], LEASE_MS).await)
                }
                StoreOperation::Write(..) => format!("{:?}", store.write(batches.remove(0)).await),
                StoreOperation::Both(..) => {
                    let (one, other) = (batches.remove(0), batches.remove(0));
                    format!("{:?}", tokio::join!(store.write(one), store.write(other)))
                }
                StoreOperation::Ask(job, what) => {
                    let request = match what {
                        0 => InboxRequest::Continue,
                        1 => InboxRequest::Cancel,
                        2 => InboxRequest::Retry,
                        3 => InboxRequest::Abort,
                        5 => InboxRequest::Undo,
                        4 => InboxRequest::Signal { key: "k".to_owned(), payload: "{}".to_owned() },
                        _ => InboxRequest::LateEffect { slot: Slot::new("s0"), try_no: 1 },
                    };
                    let put = store.put_inbox(&job_id(*job), "ann", Some("why"), request).await;
                    format!("{:?}", put.map(|_| ()))
                }
                StoreOperation::Fire => format!("{:?}", store.fire_timers().await),
                StoreOperation::Late(job, slot, value) => {
                    let effects = [effect(&format!("s{slot}"), 1, &value.to_string())];
                    format!("{:?}", store.put(&job_id(*job), &effects).await)
                }
                StoreOperation::Set(of, length, quota) => {
                    let value = vec![*length; usize::from(*length)];
                    format!("{:?}", store.set(&of.map(), &of.key(), &value, u64::from(*quota) * 100).await)
                }
                StoreOperation::Forget(of) => format!("{:?}", store.delete(&of.map(), &of.key()).await),
            });
        }
        answers
    }

    /// Returns all stored contents as text. The request ids that a store assigns are set to zero.
    async fn contents(&self, store: &dyn Store) -> String {
        let mut contents = format!("{:#?}\n", store.jobs(&JobFilter { limit: 99, ..JobFilter::default() }).await);
        for job in 0..=JOBS {
            let mut record = store.load(&job_id(job)).await.unwrap();
            for row in record.iter_mut().flat_map(|StoredJob { inbox, .. }| inbox) {
                row.id = 0;
            }
            contents += &format!("{record:#?}\n{:#?}\n", store.effects(&job_id(job)).await);
            for row in store.recover(&job_id(job)).await.unwrap() {
                contents += &format!("{:?}\n", store.quiescence(&job_id(job), &row, 500).await);
            }
        }
        for of in 0..2 {
            contents += &format!(
                "{:?}\n",
                store.action_reservation("tenant", &Operator::new("Mail.Send"), action_key(of)).await
            );
        }
        for map in 0..MAPS {
            for key in 0..KEYS {
                let of = MapEntry { map, key };
                contents += &format!("{:?}\n", store.get(&of.map(), &of.key()).await);
            }
            // The refusal contains the counted bytes of the map.
            contents += &format!("{:?}\n", store.set(&MapEntry { map, key: 0 }.map(), "new", b"", 0).await);
        }
        contents + &format!("{:?}\n", store.costs(CostGrouping::Job, None).await)
    }
}

async fn run_and_compare(url: &str, ops: &[StoreOperation]) -> Result<usize, TestCaseError> {
    let mut worlds = ComparedStores::new(url).await;
    let mut written = 0;
    for (number, op) in ops.iter().enumerate() {
        let answers = worlds.answers(op).await;
        written += usize::from(matches!(op, StoreOperation::Write(..)) && answers[0] == "Ok(())");
        for ((name, _), answer) in worlds.stores.iter().zip(&answers) {
            prop_assert_eq!(answer, &answers[0], "{} at operation {}: {:?}", name, number, op);
        }
    }
    let first = worlds.contents(&*worlds.stores[0].1).await;
    for (name, store) in &worlds.stores[1..] {
        prop_assert_eq!(&worlds.contents(&**store).await, &first, "{}", name);
    }
    Ok(written)
}

/// I85, I232, I233.
#[test]
fn all_stores_give_equal_answers_and_contents() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if runtime.block_on(database()).is_none() {
        return;
    }
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let written = std::cell::Cell::new(0);
    let ran = runner.run(&prop::collection::vec(any_operation(), 20..60), |ops| {
        let agreed = runtime.block_on(async { run_and_compare(&database().await.unwrap(), &ops).await })?;
        written.set(written.get() + agreed);
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
    assert!(written.get() > cases as usize, "most batches were refused: {} were written", written.get());
}
