//! Random operations on the model in memory, on SQLite and on PostgreSQL. All answers and all stored contents
//! must be equal, including hashes.

use std::sync::Arc;

use latchwork_core::awaited::TimerWrite;
use latchwork_core::cost::By;
use latchwork_core::event::{Body, Event};
use latchwork_core::ids::{Hash, JobId, Operator, Slot};
use latchwork_core::job::JobState;
use latchwork_core::ledger::RowState;
use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::storage::{ActionWrite, Batch, Claimer, Filter, LedgerWrite, Record, Request, StatusWrite};
use latchwork_store::{Database, OpenOptions, OwnerLock};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::server::database;
use crate::conformance::world::{LEASE_MS, MARGIN_MS, Store, effect, new_job, payload, row};

const JOBS: u8 = 3;
const WORKERS: u8 = 2;

/// Contents of a batch besides its events.
#[derive(Clone, Debug)]
enum Part {
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
    /// Makes the batch one of a stale attempt, or one that expects another end of the log.
    Stale,
    Elsewhere,
}

#[derive(Clone, Debug)]
enum Op {
    Submit(u8, Option<u8>),
    Claim(u8),
    ClaimJob(u8, u8),
    Heartbeat(u8),
    Write(u8, u8, Vec<Part>),
    /// Batches of two jobs in one group.
    Both(Vec<Part>, Vec<Part>),
    Ask(u8, u8),
    Pass(u32),
    Kill(u8),
    Fire,
    Late(u8, u8, u8),
    Set(u8, u8),
    Forget(u8),
}

fn part() -> impl Strategy<Value = Part> {
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
        small.clone().prop_map(Part::Insert),
        small.clone().prop_map(Part::Commit),
        (0..2_u8, 0..2_u8).prop_map(|(slot, value)| Part::Effect(slot, value)),
        (0..2_u8, 0..2_u8).prop_map(|(label, value)| Part::Payload(label, value)),
        (0..2_u8, 0..2_u8).prop_map(|(key, args)| Part::Reserve(key, args)),
        (0..2_u8, any::<bool>()).prop_map(|(key, done)| Part::Settle(key, done)),
        small.clone().prop_map(Part::TakeBack),
        small.clone().prop_map(Part::Wait),
        (0..2_u8, prop::option::of(0..20_000_u32)).prop_map(|(name, due)| Part::Timer(name, due)),
        Just(Part::Drain),
        state.prop_map(Part::Status),
        Just(Part::Acquire),
        Just(Part::Audit),
        Just(Part::Drained),
        Just(Part::Stale),
        Just(Part::Elsewhere),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let parts = || prop::collection::vec(part(), 0..3);
    prop_oneof![
        3 => (0..JOBS, prop::option::of(0..WORKERS)).prop_map(|(job, worker)| Op::Submit(job, worker)),
        2 => (0..WORKERS).prop_map(Op::Claim),
        2 => (0..JOBS, 0..WORKERS).prop_map(|(job, worker)| Op::ClaimJob(job, worker)),
        1 => (0..JOBS).prop_map(Op::Heartbeat),
        12 => (0..JOBS, 0..3_u8, parts()).prop_map(|(job, events, parts)| Op::Write(job, events, parts)),
        3 => (parts(), parts()).prop_map(|(one, other)| Op::Both(one, other)),
        4 => (0..JOBS, 0..7_u8).prop_map(|(job, what)| Op::Ask(job, what)),
        2 => (1..20_000_u32).prop_map(Op::Pass),
        1 => (0..WORKERS).prop_map(Op::Kill),
        1 => Just(Op::Fire),
        2 => (0..=JOBS, 0..2_u8, 0..2_u8).prop_map(|(job, slot, value)| Op::Late(job, slot, value)),
        1 => (0..2_u8, 0..2_u8).prop_map(|(key, value)| Op::Set(key, value)),
        1 => (0..2_u8).prop_map(Op::Forget),
    ]
}

/// All stores with the same clock and the same worker processes.
struct Worlds {
    clock: Arc<ManualClock>,
    stores: Vec<(&'static str, Arc<dyn Store>)>,
    workers: Vec<(Claimer, Option<OwnerLock>)>,
    _dirs: [tempfile::TempDir; 3],
}

fn job_id(job: u8) -> JobId {
    JobId::new(format!("job_{job}"))
}

fn key(key: u8) -> Hash {
    Hash::of(&[b"key", &[key]])
}

impl Worlds {
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
                let lock = OwnerLock::take(locks.path(), &name, &name, &*clock).unwrap();
                (Claimer { owner: lock.owner().clone(), lease_ms: LEASE_MS }, Some(lock))
            })
            .collect();
        Self { clock, stores, workers, _dirs: dirs }
    }

    /// Builds a batch from the job's state in the model. Inbox rows are those of `store`.
    async fn batch(&self, store: &dyn Store, job: u8, events: u8, parts: &[Part]) -> Batch {
        let job_id = job_id(job);
        let known = self.stores[0].1.job(&job_id).await.unwrap();
        let (attempt, seq, head) = known.map_or((1, 2, Hash::default()), |row| (row.attempt, row.next_seq, row.head));
        let mut batch = Batch::new(job_id.clone(), attempt, seq, head);
        if parts.iter().any(|part| matches!(part, Part::Stale)) {
            batch.attempt = attempt.saturating_sub(1);
        }
        if parts.iter().any(|part| matches!(part, Part::Elsewhere)) {
            batch.expect_seq += 1;
        }
        let (mut seq, mut head) = (batch.expect_seq, batch.expect_head);
        for _ in 0..events {
            let body = Body::StepStarted { step_id: format!("s{seq}").into() };
            let event = Event::seal(seq, 1_700_000_000_000_000, batch.attempt, body, head);
            (seq, head) = (seq + 1, event.hash);
            batch.events.push(event);
        }
        let operator = Operator::new("Mail.Send");
        for part in parts {
            let slot = |slot: &u8| Slot::new(format!("s{slot}"));
            match part {
                Part::Insert(slot) => {
                    let row = row(&format!("s{slot}"), RowState::Inflight, batch.attempt);
                    batch.ledger.push(LedgerWrite::Insert(row));
                }
                Part::Commit(slot) => {
                    let row = row(&format!("s{slot}"), RowState::Committed, batch.attempt);
                    let (expect, expect_try, expect_nonce) = (RowState::Inflight, 1, row.nonce);
                    batch.ledger.push(LedgerWrite::Update { expect, expect_try, expect_nonce, row });
                }
                Part::Effect(slot, value) => batch.effects.push(effect(&format!("s{slot}"), 1, &value.to_string())),
                Part::Payload(label, value) => batch.payloads.push(payload(&format!("output/{label}"), &[*value])),
                Part::Reserve(of, args) => batch.actions.push(ActionWrite::Reserve {
                    operator: operator.clone(),
                    key: key(*of),
                    args_hash: Hash::of(&[&[*args]]),
                    slot: slot(&0),
                }),
                Part::Settle(of, done) => batch.actions.push(ActionWrite::Settle {
                    operator: operator.clone(),
                    key: key(*of),
                    slot: slot(&0),
                    receipt: done.then(|| b"{}".to_vec()),
                }),
                Part::TakeBack(of) => {
                    let (operator, key) = (operator.clone(), key(*of));
                    batch.actions.push(ActionWrite::TakeBack { operator, key, slot: slot(&0) });
                }
                Part::Wait(of) => {
                    batch.actions.push(ActionWrite::Wait { operator: operator.clone(), key: key(*of) });
                }
                Part::Timer(name, due_ms) => {
                    let due_us = due_ms.map(|ms| 1_700_000_000_000_000 + i64::from(ms) * 1000);
                    batch.timers.push(TimerWrite { name: format!("wait/s{name}"), due_us });
                }
                Part::Drain => {
                    batch.inbox_done = store.inbox(&job_id).await.unwrap().iter().map(|row| row.id).collect();
                }
                Part::Status(to) => {
                    let wake_at_us = (*to == JobState::Waiting).then_some(1_700_000_010_000_000);
                    batch.status = Some(StatusWrite { to: *to, wake_at_us });
                }
                Part::Acquire => batch.acquire = true,
                Part::Audit => batch.audit = true,
                Part::Drained => batch.drained = true,
                Part::Stale | Part::Elsewhere => {}
            }
        }
        batch
    }

    /// Returns each store's answer as text, without values that are specific to the store.
    async fn answers(&mut self, op: &Op) -> Vec<String> {
        match op {
            Op::Pass(ms) => self.clock.advance_ms(*ms),
            Op::Kill(worker) => {
                let (claimer, lock) = &mut self.workers[usize::from(*worker)];
                self.clock.kill(&claimer.owner);
                drop(lock.take());
            }
            _ => {}
        }
        // All batches are built before any is written, because they start from the model's state.
        let mut batches = Vec::new();
        for (_, store) in &self.stores {
            batches.push(match op {
                Op::Write(job, events, parts) => vec![self.batch(&**store, *job, *events, parts).await],
                Op::Both(one, other) => {
                    vec![self.batch(&**store, 0, 1, one).await, self.batch(&**store, 1, 1, other).await]
                }
                _ => Vec::new(),
            });
        }
        let mut answers = Vec::new();
        for ((_, store), mut batches) in self.stores.iter().zip(batches) {
            let claimer = |worker: &u8| &self.workers[usize::from(*worker)].0;
            answers.push(match op {
                Op::Pass(_) | Op::Kill(_) => String::new(),
                Op::Submit(job, worker) => {
                    let mut new = new_job(&job.to_string());
                    new.claim = worker.as_ref().map(|worker| claimer(worker).clone());
                    format!("{:?}", store.submit(new).await)
                }
                Op::Claim(worker) => format!("{:?}", store.claim(claimer(worker)).await),
                Op::ClaimJob(job, worker) => format!("{:?}", store.claim_job(&job_id(*job), claimer(worker)).await),
                Op::Heartbeat(job) => {
                    let attempt = store.job(&job_id(*job)).await.unwrap().map_or(1, |row| row.attempt);
                    format!("{:?}", store.heartbeat(&[(job_id(*job), attempt)], LEASE_MS).await)
                }
                Op::Write(..) => format!("{:?}", store.write(batches.remove(0)).await),
                Op::Both(..) => {
                    let (one, other) = (batches.remove(0), batches.remove(0));
                    format!("{:?}", tokio::join!(store.write(one), store.write(other)))
                }
                Op::Ask(job, what) => {
                    let request = match what {
                        0 => Request::Continue,
                        1 => Request::Cancel,
                        2 => Request::Retry,
                        3 => Request::Abort,
                        5 => Request::Undo,
                        4 => Request::Signal { key: "k".to_owned(), payload: "{}".to_owned() },
                        _ => Request::LateEffect { slot: Slot::new("s0"), try_no: 1 },
                    };
                    let put = store.put_inbox(&job_id(*job), "ann", Some("why"), request).await;
                    format!("{:?}", put.map(|_| ()))
                }
                Op::Fire => format!("{:?}", store.fire_timers().await),
                Op::Late(job, slot, value) => {
                    let effects = [effect(&format!("s{slot}"), 1, &value.to_string())];
                    format!("{:?}", store.put(&job_id(*job), &effects).await)
                }
                Op::Set(key, value) => format!("{:?}", store.set("n", &format!("a\0{key}"), &[*value]).await),
                Op::Forget(key) => format!("{:?}", store.delete("n", &format!("a\0{key}")).await),
            });
        }
        answers
    }

    /// Returns all stored contents as text. The request ids that a store assigns are set to zero.
    async fn contents(&self, store: &dyn Store) -> String {
        let mut contents = format!("{:#?}\n", store.jobs(&Filter { limit: 99, ..Filter::default() }).await);
        for job in 0..=JOBS {
            let mut record = store.load(&job_id(job)).await.unwrap();
            for row in record.iter_mut().flat_map(|Record { inbox, .. }| inbox) {
                row.id = 0;
            }
            contents += &format!("{record:#?}\n{:#?}\n", store.effects(&job_id(job)).await);
            for row in store.recover(&job_id(job)).await.unwrap() {
                contents += &format!("{:?}\n", store.quiescence(&job_id(job), &row, 500).await);
            }
        }
        for of in 0..2 {
            contents += &format!("{:?}\n", store.action("tenant", &Operator::new("Mail.Send"), key(of)).await);
            contents += &format!("{:?}\n", store.get("n", &format!("a\0{of}")).await);
        }
        contents + &format!("{:?}\n", store.costs(By::Job, None).await)
    }
}

async fn agree(url: &str, ops: &[Op]) -> Result<usize, TestCaseError> {
    let mut worlds = Worlds::new(url).await;
    let mut written = 0;
    for (number, op) in ops.iter().enumerate() {
        let answers = worlds.answers(op).await;
        written += usize::from(matches!(op, Op::Write(..)) && answers[0] == "Ok(())");
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

/// I85.
#[test]
fn every_store_decides_alike() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if runtime.block_on(database()).is_none() {
        return;
    }
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let written = std::cell::Cell::new(0);
    let ran = runner.run(&prop::collection::vec(op(), 20..60), |ops| {
        let agreed = runtime.block_on(async { agree(&database().await.unwrap(), &ops).await })?;
        written.set(written.get() + agreed);
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
    assert!(written.get() > cases as usize, "most batches were refused: {} were written", written.get());
}
