//! A store under test, with its clock and the processes that claim from it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use latchwork_core::event::{Body, Event};
use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::effect::{Answer, Effect, Output, Provenance};
use latchwork_core::model::ids::{Hash, JobId, Operator, Slot, StepId};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::{LedgerRow, RowState};
use latchwork_core::storage::{
    AttemptEnd, Batch, BatchKind, Clock, EffectStore, JobRow, Journal, KeyValue, LeaseRequest, NewJob, Owner, Payload,
};
use latchwork_store::{Database, OpenOptions, OwnerLock};

use crate::support::servers::postgres::server::database;

/// All traits of a store.
pub(crate) trait Store: Journal + EffectStore + KeyValue {}
impl<T: Journal + EffectStore + KeyValue> Store for T {}

/// Length of every lease.
pub(crate) const LEASE_MS: u32 = 15_000;
/// Clock margin of every store.
pub(crate) const MARGIN_MS: u32 = 2000;

/// A store under test.
pub(crate) struct StoreFixture {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<ManualClock>,
    /// Directory of the files of a store on disk.
    pub(crate) dir: Option<TempDir>,
    locks: Mutex<HashMap<String, OwnerLock>>,
}

impl StoreFixture {
    pub(crate) fn memory() -> Self {
        let clock = Arc::new(ManualClock::default());
        let store = Arc::new(Memory::new(clock.clone(), MARGIN_MS));
        Self { store, clock, dir: None, locks: Mutex::default() }
    }

    pub(crate) async fn sqlite() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::default());
        let options = OpenOptions { clock: Some(clock.clone()), ..OpenOptions::new(dir.path().join("latch.db")) };
        let store = Database::open(options).await.unwrap();
        Self { store, clock, dir: Some(dir), locks: Mutex::default() }
    }

    /// Creates a store on a PostgreSQL server. If no server is available, prints a message and returns `None`.
    pub(crate) async fn postgres() -> Option<Self> {
        let url = database().await?;
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::default());
        let options = OpenOptions { clock: Some(clock.clone()), ..OpenOptions::server(url, dir.path()) };
        let store = Database::open(options).await.unwrap();
        Some(Self { store, clock, dir: Some(dir), locks: Mutex::default() })
    }

    /// Creates a process that can claim jobs, with its owner lock.
    pub(crate) fn lease_request(&self, name: &str) -> LeaseRequest {
        let owner = match &self.dir {
            None => Owner {
                worker: name.to_owned(),
                boot_id: self.clock.boot_id(),
                lock_path: String::new(),
                lock_dev: 1,
                lock_ino: 2,
                lock_content: name.to_owned(),
            },
            Some(dir) => {
                let lock = OwnerLock::acquire(dir.path(), name, name, &*self.clock).unwrap();
                let owner = lock.owner().clone();
                self.locks.lock().unwrap().insert(name.to_owned(), lock);
                owner
            }
        };
        LeaseRequest { owner, lease_ms: LEASE_MS }
    }

    /// Ends the process that made this lease request.
    pub(crate) fn kill(&self, claimer: &LeaseRequest) {
        self.clock.kill(&claimer.owner);
        self.locks.lock().unwrap().remove(&claimer.owner.worker);
    }

    /// Submits a new job that is claimed by a new process.
    pub(crate) async fn claimed_job(&self, name: &str) -> LogWriter {
        let claimer = self.lease_request(&format!("worker-of-{name}"));
        let mut new = new_job(name);
        new.claim = Some(claimer);
        let mut log = LogWriter::of(&new);
        log.attempt = 1;
        self.store.submit(new).await.unwrap();
        log
    }

    pub(crate) async fn job_row(&self, log: &LogWriter) -> JobRow {
        self.store.job(&log.job_id).await.unwrap().unwrap()
    }
}

/// The end of a log as its writer assumes it.
#[derive(Clone, Debug)]
pub(crate) struct LogWriter {
    pub(crate) job_id: JobId,
    pub(crate) attempt: u32,
    pub(crate) seq: u64,
    pub(crate) head: Hash,
}

impl LogWriter {
    pub(crate) fn of(new: &NewJob) -> Self {
        Self { job_id: new.row.job_id.clone(), attempt: new.row.attempt, seq: new.row.next_seq, head: new.row.head }
    }

    /// Returns an empty batch at the end of the log.
    pub(crate) fn batch(&self) -> Batch {
        Batch::new(self.job_id.clone(), self.attempt, self.seq, self.head)
    }

    /// Returns a batch of this number of events, and advances the end of the log.
    pub(crate) fn append(&mut self, events: usize) -> Batch {
        let mut batch = self.batch();
        for _ in 0..events {
            let body = Body::StepStarted { step_id: StepId::new(format!("s{}", self.seq)) };
            batch.writes.events.push(self.seal(body));
        }
        batch
    }

    /// Returns the next event, and advances the end of the log.
    pub(crate) fn seal(&mut self, body: Body) -> Event {
        let event = Event::seal(self.seq, 1_700_000_000_000_000, self.attempt, body, self.head);
        self.seq += 1;
        self.head = event.hash;
        event
    }

    /// Returns a batch that takes the job to this state. Only a waiting job wakes at a time.
    pub(crate) fn ending(&mut self, to: JobState, wake_at_us: Option<i64>) -> Batch {
        let mut batch = self.append(1);
        batch.writes.kind = BatchKind::EndAttempt(match to {
            JobState::Waiting => AttemptEnd::Waiting { wake_at_us },
            to => AttemptEnd::of(to).expect("an attempt does not end in this state"),
        });
        batch
    }
}

/// Returns a job to submit. `name` determines the job id and the request key.
pub(crate) fn new_job(name: &str) -> NewJob {
    let mut events = Vec::new();
    let mut head = Hash::default();
    for (seq, text) in [(0, "a"), (1, "b")] {
        let body = Body::PlanCreated { plan: serde_json::json!({ "plan": text, "of": name }), plan_hash: head };
        let event = Event::seal(seq, 1_700_000_000_000_000, 0, body, head);
        head = event.hash;
        events.push(event);
    }
    let row = JobRow {
        job_id: JobId::new(format!("job_{name}")),
        tenant_id: "tenant".to_owned(),
        actor_id: "actor".to_owned(),
        request_key: Hash::of(&[b"request", name.as_bytes()]),
        plan_id: "plan".to_owned(),
        plan_hash: Hash::of(&[b"plan"]),
        mode: "HUMAN_GATED".to_owned(),
        state: JobState::Pending,
        attempt: 0,
        next_seq: 2,
        head,
        inbox_pending: false,
        cancel_requested: false,
        wake_at_us: None,
        priority: 0,
        created_us: 1_700_000_000_000_000,
        updated_us: 1_700_000_000_000_000,
    };
    NewJob {
        row,
        events,
        secret: Hash::of(&[b"secret", name.as_bytes()]),
        payloads: vec![payload("plan", b"{}")],
        expectations: Vec::new(),
        claim: None,
        queue: Default::default(),
    }
}

pub(crate) fn payload(label: &str, bytes: &[u8]) -> Payload {
    Payload { label: label.to_owned(), bytes: bytes.to_owned() }
}

/// Returns a ledger row of a first try.
pub(crate) fn ledger_row(slot: &str, state: RowState, attempt: u32) -> LedgerRow {
    LedgerRow {
        slot: Slot::new(slot),
        operator: Operator::new("Mail.Send"),
        args_hash: Hash::of(&[b"args", slot.as_bytes()]),
        state,
        attempt,
        nonce: u64::MAX - 7,
        try_no: 1,
        first_attempt: attempt,
        first_started_us: 1_700_000_000_000_000,
        world_changing: true,
        timeout_ms: 30_000,
        deadline_us: 0,
        next_try_us: None,
        result_hash: None,
        action_key: None,
    }
}

pub(crate) fn effect(slot: &str, try_no: u32, result: &str) -> Effect {
    let output = Output { result: result.to_owned(), receipt: None, state_changes: Vec::new(), usage: None };
    Effect {
        slot: Slot::new(slot),
        try_no,
        answer: Answer::Ok(output),
        provenance: Provenance::Executed,
        time_us: 1_700_000_000_000_000,
        spent: None,
    }
}
