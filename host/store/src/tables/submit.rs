//! Accepts jobs.

use async_trait::async_trait;

use latchwork_core::storage::{JobRow, NewJob, Payload, Submitted, WriteError, admit};

use crate::sql::error::TransactionFailure;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::rows::{JOB_COLUMNS, state_number};
use crate::tables::{awaited, events, leases, payloads};
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;

/// Work that stores a new job.
pub(crate) struct AcceptJob(pub(crate) NewJob);

#[async_trait]
impl TransactionPart for AcceptJob {
    type Output = Result<Submitted, WriteError>;

    fn starts_work(&self) -> bool {
        self.0.claim.is_some()
    }

    fn needs_marker(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let row = &self.0.row;
        let now = tx.now().await?;
        let mut statements = StatementBatch::default();
        statements.push(&format!("SELECT {JOB_COLUMNS} FROM jobs j WHERE j.request_key = ?")).hash(row.request_key);
        let next = tx.dialect.next_job();
        statements
            .push(&format!("SELECT {next}, EXISTS (SELECT 1 FROM jobs WHERE job_id = ?)"))
            .text(row.job_id.as_str());
        let rows = tx.run(StatementName::SUBMIT_FIND, statements).await?;
        if let Some(found) = rows[0].first() {
            return Ok(Ok(Submitted::Attached(JobRow::try_from(RowReader::new(found, "jobs"))?)));
        }
        let mut found = RowReader::new(&rows[1][0], "jobs");
        let (id, exists) = (found.int()?, found.bool()?);
        if exists {
            let message = format!("job {} exists with another request key", row.job_id);
            return Ok(Err(WriteError::Defect(message)));
        }
        if let Some(full) = self.queue_full(tx).await? {
            return Ok(Ok(full));
        }
        let mut statements = StatementBatch::default();
        statements.push("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        statements.int(id).text(row.job_id.as_str()).text(row.tenant_id.as_str()).text(row.actor_id.as_str());
        statements.hash(row.request_key).text(row.plan_id.as_str()).hash(row.plan_hash).text(row.mode.as_str());
        statements.hash(self.0.secret).int(row.created_us).int(state_number(row.state)).int(row.attempt);
        statements.bits(row.next_seq).hash(row.head).int(row.inbox_pending).int(row.cancel_requested);
        statements.int_or_null(row.wake_at_us).int_or_null(None).int(row.updated_us).int(row.priority);
        let append: Vec<events::Append> = events::Append::of(id, &self.0.events).into_iter().collect();
        events::insert(&mut statements, &append);
        let kept: Vec<(i64, &Payload)> = self.0.payloads.iter().map(|payload| (id, payload)).collect();
        payloads::insert(&mut statements, &kept);
        let awaited = self.0.expectations.iter().map(|awaited| ((id, awaited.name.as_str()), awaited)).collect();
        awaited::replace(&mut statements, &awaited);
        if let Some(claimer) = &self.0.claim {
            leases::push_claim(&mut statements, &id.to_string(), claimer, &now);
        }
        tx.run_last(StatementName::SUBMIT_INSERT, statements).await?;
        Ok(Ok(Submitted::New))
    }
}

impl AcceptJob {
    /// Returns the refusal if the queue of pending jobs is full.
    async fn queue_full(&self, tx: &mut Tx<'_>) -> Result<Option<Submitted>, TransactionFailure> {
        let NewJob { row, queue, claim, .. } = &self.0;
        let (Some(most), None) = (queue.tenant.max(queue.all), claim) else { return Ok(None) };
        let mut statements = StatementBatch::new(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM jobs WHERE state = 1 AND tenant_id = ? LIMIT ?) t), (SELECT \
             count(*) FROM (SELECT 1 FROM jobs WHERE state = 1 LIMIT ?) a)",
        );
        statements.text(row.tenant_id.as_str()).int(most).int(most);
        if let Some(counting) = tx.dialect.count_lock() {
            tx.run(StatementName::SUBMIT_COUNT, StatementBatch::new(counting)).await?;
        }
        let rows = tx.run(StatementName::SUBMIT_COUNT, statements).await?;
        let mut found = RowReader::new(&rows[0][0], "jobs");
        let (own, all) = (found.u32()?, found.u32()?);
        Ok(admit::queue_full(*queue, own as usize, all as usize))
    }
}
