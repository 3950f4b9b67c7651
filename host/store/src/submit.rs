//! Accepts jobs, and loads all stored data of a job.

use async_trait::async_trait;

use latchwork_core::model::ids::JobId;
use latchwork_core::rules::ledger::LedgerRow;
use latchwork_core::storage::{InboxRow, JobRow, NewJob, Payload, StoreError, StoredJob, Submitted, WriteError, admit};

use crate::error::TransactionFailure;
use crate::row::{INBOX_COLUMNS, JOB_COLUMNS, LEDGER_COLUMNS, RowReader, state_number};
use crate::statement::StatementName;
use crate::statement_batch::StatementBatch;
use crate::writer::{Tx, Work};
use crate::{Database, awaited, events, leases, payloads, row};

struct AcceptJob(NewJob);

#[async_trait]
impl Work for AcceptJob {
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
        let mut script = StatementBatch::default();
        script.push(&format!("SELECT {JOB_COLUMNS} FROM jobs j WHERE j.request_key = ?")).hash(row.request_key);
        let next = tx.dialect.next_job();
        script.push(&format!("SELECT {next}, EXISTS (SELECT 1 FROM jobs WHERE job_id = ?)")).text(row.job_id.as_str());
        let rows = tx.run(StatementName::SUBMIT_FIND, script).await?;
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
        let mut script = StatementBatch::default();
        script.push("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        script.int(id).text(row.job_id.as_str()).text(row.tenant_id.as_str()).text(row.actor_id.as_str());
        script.hash(row.request_key).text(row.plan_id.as_str()).hash(row.plan_hash).text(row.mode.as_str());
        script.hash(self.0.secret).int(row.created_us).int(state_number(row.state)).int(row.attempt);
        script.bits(row.next_seq).hash(row.head).int(row.inbox_pending).int(row.cancel_requested);
        script.int_or_null(row.wake_at_us).int_or_null(None).int(row.updated_us).int(row.priority);
        let append: Vec<events::Append> = events::Append::of(id, &self.0.events).into_iter().collect();
        events::insert(&mut script, &append);
        let kept: Vec<(i64, &Payload)> = self.0.payloads.iter().map(|payload| (id, payload)).collect();
        payloads::insert(&mut script, &kept);
        let awaited = self.0.expectations.iter().map(|awaited| ((id, awaited.name.as_str()), awaited)).collect();
        awaited::replace(&mut script, &awaited);
        if let Some(claimer) = &self.0.claim {
            leases::push_claim(&mut script, &id.to_string(), claimer, &now);
        }
        tx.run_last(StatementName::SUBMIT_INSERT, script).await?;
        Ok(Ok(Submitted::New))
    }
}

impl AcceptJob {
    /// Returns the refusal if the queue of pending jobs is full.
    async fn queue_full(&self, tx: &mut Tx<'_>) -> Result<Option<Submitted>, TransactionFailure> {
        let NewJob { row, queue, claim, .. } = &self.0;
        let (Some(most), None) = (queue.tenant.max(queue.all), claim) else { return Ok(None) };
        let mut script = StatementBatch::new(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM jobs WHERE state = 1 AND tenant_id = ? LIMIT ?) t), (SELECT \
             count(*) FROM (SELECT 1 FROM jobs WHERE state = 1 LIMIT ?) a)",
        );
        script.text(row.tenant_id.as_str()).int(most).int(most);
        if let Some(counting) = tx.dialect.count_lock() {
            tx.run(StatementName::SUBMIT_COUNT, StatementBatch::new(counting)).await?;
        }
        let rows = tx.run(StatementName::SUBMIT_COUNT, script).await?;
        let mut found = RowReader::new(&rows[0][0], "jobs");
        let (own, all) = (found.u32()?, found.u32()?);
        Ok(admit::queue_full(*queue, own as usize, all as usize))
    }
}

impl Database {
    pub(crate) async fn accept(&self, new: NewJob) -> Result<Submitted, WriteError> {
        admit::check_new(&new)?;
        if new.claim.is_some() {
            self.generation.begin_use(self).await?;
        }
        self.writer.work(AcceptJob(new)).await?
    }

    pub(crate) async fn read_record(&self, job_id: &JobId) -> Result<Option<StoredJob>, StoreError> {
        // Read all tables in one transaction. Otherwise their rows could belong to different snapshots.
        let mut script = StatementBatch::default();
        script.push(&format!("SELECT {JOB_COLUMNS}, j.secret FROM jobs j WHERE j.job_id = ?")).text(job_id.as_str());
        script.push(
            "SELECT e.id, e.count, e.head, e.bytes FROM jobs j CROSS JOIN events e ON e.id >= j.id * 4294967296 AND \
             e.id < (j.id + 1) * 4294967296 WHERE j.job_id = ? ORDER BY e.id",
        );
        script.text(job_id.as_str());
        script.push(&format!(
            "SELECT {LEDGER_COLUMNS} FROM jobs j CROSS JOIN ledger l ON l.job = j.id WHERE j.job_id = ? ORDER BY l.slot"
        ));
        script.text(job_id.as_str());
        script.push(
            "SELECT p.label, p.bytes FROM jobs j CROSS JOIN payloads p ON p.job = j.id WHERE j.job_id = ? ORDER BY \
             p.label",
        );
        script.text(job_id.as_str());
        script.push(&format!(
            "SELECT {INBOX_COLUMNS} FROM jobs j CROSS JOIN inbox i ON i.job = j.id AND i.done = 0 WHERE j.job_id = ? \
             ORDER BY i.id"
        ));
        script.text(job_id.as_str());
        let rows = self.readers.run_snapshot(StatementName::LOAD, script).await?;
        let Some(found) = rows[0].first() else { return Ok(None) };
        let mut stored = RowReader::new(found, "jobs");
        let (row, secret) = (row::job(&mut stored)?, stored.hash()?);
        let events = events::chain(&row, rows[1].iter().map(|row| RowReader::new(row, "events")))?;
        let ledger =
            rows[2].iter().map(|row| LedgerRow::try_from(RowReader::new(row, "ledger"))).collect::<Result<_, _>>()?;
        let payloads =
            rows[3].iter().map(|row| payloads::payload(RowReader::new(row, "payloads"))).collect::<Result<_, _>>()?;
        let inbox =
            rows[4].iter().map(|row| InboxRow::try_from(RowReader::new(row, "inbox"))).collect::<Result<_, _>>()?;
        Ok(Some(StoredJob { row, secret, events, ledger, payloads, inbox }))
    }
}
