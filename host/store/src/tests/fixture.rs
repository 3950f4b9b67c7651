//! Opened databases, claimed jobs and batches for the tests.

use std::path::Path;
use std::sync::Arc;

use sqlx::sqlite::SqliteConnectOptions;

use latchwork_core::event::{Body, Event};
use latchwork_core::model::ids::{Hash, JobId, StepId};
use latchwork_core::model::job::JobState;
use latchwork_core::storage::{Batch, JobRow, Journal, LeaseRequest, NewJob, QueueLimit};

use crate::sql::connection::Connector;
use crate::sql::statement::{StatementCounters, StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;
use crate::{Database, NoProbe, OpenOptions, OwnerLock, StoreClock};

/// Executes SQL without going through the store.
pub(super) async fn sql(path: &Path, text: &str) {
    let connect = Connector::Sqlite(Box::new(SqliteConnectOptions::new().filename(path)));
    let mut conn = connect.connect_once().await.unwrap();
    let executor = StatementExecutor { probe: Arc::new(NoProbe), counters: Arc::new(StatementCounters::default()) };
    executor.run(&mut conn, StatementName::SCHEMA, StatementBatch::new(text)).await.unwrap();
    conn.close().await;
}

pub(super) async fn open(path: &Path) -> Arc<Database> {
    Database::open(OpenOptions::new(path)).await.unwrap()
}

fn event(seq: u64, attempt: u32, prev: Hash) -> Event {
    let body = Body::StepStarted { step_id: StepId::new(format!("s{seq}")) };
    Event::seal(seq, 1_700_000_000_000_000, attempt, body, prev)
}

/// Submits a job with one event. A process holds the lease of the job. The second value holds the lock of that process.
pub(super) async fn submit_claimed(store: &Database, dir: &Path, name: &str) -> (Batch, OwnerLock) {
    let first = event(0, 0, Hash::default());
    let lock = OwnerLock::acquire(dir, name, name, &StoreClock::new().unwrap()).unwrap();
    let row = JobRow {
        job_id: JobId::new(format!("job_{name}")),
        tenant_id: "tenant".to_owned(),
        actor_id: "actor".to_owned(),
        request_key: Hash::of(&[name.as_bytes()]),
        plan_id: "plan".to_owned(),
        plan_hash: Hash::default(),
        mode: "HUMAN_GATED".to_owned(),
        state: JobState::Pending,
        attempt: 0,
        next_seq: 1,
        head: first.hash,
        inbox_pending: false,
        cancel_requested: false,
        wake_at_us: None,
        priority: 0,
        created_us: 0,
        updated_us: 0,
    };
    let next = Batch::new(row.job_id.clone(), 1, 1, row.head);
    let claim = Some(LeaseRequest { owner: lock.owner().clone(), lease_ms: 600_000 });
    let new = NewJob {
        row,
        events: vec![first],
        secret: Hash::default(),
        payloads: Vec::new(),
        expectations: Vec::new(),
        claim,
        queue: QueueLimit::default(),
    };
    store.submit(new).await.unwrap();
    (next, lock)
}

/// Appends one event to an empty batch, such as the batch that [`submit_claimed`] returns. Returns the extended batch
/// and an empty batch that follows it.
pub(super) fn append(mut batch: Batch) -> (Batch, Batch) {
    let event = event(batch.expect_seq, batch.attempt, batch.expect_head);
    let next = Batch::new(batch.job_id.clone(), batch.attempt, event.seq + 1, event.hash);
    batch.writes.events.push(event);
    (batch, next)
}
