//! Requests to jobs from processes other than the lease holder.

use std::collections::BTreeSet;

use async_trait::async_trait;

use latchwork_core::event::DecidedBy;
use latchwork_core::model::ids::JobId;
use latchwork_core::storage::{Batch, InboxError, InboxRequest, InboxRow, StoreError, StoredRequest, admit};

use crate::sql::error::TransactionFailure;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::awaited as stored;
use crate::tables::group_state::GroupState;
use crate::tables::jobs::{self, JOIN_HOLDER, SNAPSHOT_COLUMNS};
use crate::tables::rows::{INBOX_COLUMNS, state_number};
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;

/// Actor of requests that the store itself creates.
const STORE_ACTOR: &str = "latchwork";

/// Appends queries for the pending inbox rows of some jobs: each job for which a batch marks inbox rows as done.
/// Returns the number of appended statements.
pub(crate) fn read(statements: &mut StatementBatch, batches: &[&Batch]) -> usize {
    let jobs: BTreeSet<&JobId> =
        batches.iter().filter(|batch| !batch.writes.inbox_done.is_empty()).map(|batch| &batch.job_id).collect();
    let jobs: Vec<&JobId> = jobs.into_iter().collect();
    statements.push_over_rows(
        "SELECT j.job_id, i.id FROM ",
        1,
        " CROSS JOIN jobs j ON j.job_id = v.column1 CROSS JOIN inbox i ON i.job = j.id AND i.done = 0",
        &jobs,
        |statements, job_id| {
            statements.text(job_id.as_str());
        },
    )
}

/// Loads the id of an inbox row into the state of the group.
pub(crate) fn load_row(seen: &mut GroupState, mut row: RowReader<'_>) -> Result<(), StoreError> {
    let job_id = row.text()?;
    seen.update_job(&job_id, |standing| {
        standing.inbox.insert(row.int()?);
        Ok(())
    });
    Ok(())
}

/// Appends the statements that mark inbox rows as done.
pub(crate) fn finish(statements: &mut StatementBatch, ids: &[i64]) {
    statements.push_over_rows(
        "UPDATE inbox SET done = 1 FROM ",
        1,
        " WHERE inbox.id = v.column1",
        ids,
        |statements, id| {
            statements.int(*id);
        },
    );
}

/// Inserts requests that the store itself creates.
pub(crate) fn insert(statements: &mut StatementBatch, requests: &[(i64, InboxRequest)], now_us: i64) {
    statements.push_over_rows(
        "INSERT INTO inbox (job, actor, request, done, created_us) SELECT column1, column2, column3, 0, column4 FROM ",
        4,
        " WHERE column1 IS NOT NULL",
        requests,
        |statements, (job, request)| {
            statements.int(*job).text(STORE_ACTOR).text(json(request)).int(now_us);
        },
    );
}

pub(crate) fn json(request: &InboxRequest) -> String {
    serde_json::to_string(request).expect("a request is plain data")
}

/// Work that inserts a request of another process.
pub(crate) struct PutRequest {
    pub(crate) job_id: JobId,
    pub(crate) by: DecidedBy,
    pub(crate) request: InboxRequest,
}

#[async_trait]
impl TransactionPart for PutRequest {
    type Output = Result<i64, InboxError>;

    fn starts_work(&self) -> bool {
        false
    }

    fn jobs(&self) -> Vec<JobId> {
        vec![self.job_id.clone()]
    }

    fn needs_marker(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let now = tx.now().await?;
        let mut statements =
            StatementBatch::new(&format!("SELECT {SNAPSHOT_COLUMNS} FROM jobs j{JOIN_HOLDER} WHERE j.job_id = ?"));
        statements.text(self.job_id.as_str());
        let asks = latchwork_core::storage::expected_requests::depends_on_expectations(&self.request);
        if asks {
            stored::read(&mut statements, self.job_id.as_str());
        }
        let rows = tx.run(StatementName::INBOX_FIND, statements).await?;
        let Some(row) = rows.first().and_then(|jobs| jobs.first()) else {
            return Ok(Err(InboxError::NoJob(self.job_id.clone())));
        };
        let mut seen = GroupState::default();
        jobs::load_row(&mut seen, RowReader::new(row, "jobs"), &now)?;
        if let Some(error) = seen.damaged.remove(&self.job_id) {
            return Ok(Err(error.into()));
        }
        let known = seen.jobs.get_mut(&self.job_id).expect("the row is of this job");
        let state = known.snapshot.state;
        let mut what = Vec::new();
        for row in rows.iter().skip(1).flatten() {
            what.push(stored::read_row(RowReader::new(row, "awaited"))?);
        }
        let now_us = now.now_us;
        if let Err(error) =
            latchwork_core::storage::expected_requests::check_request(&self.job_id, state, &what, &self.request, now_us)
        {
            return Ok(Err(error));
        }
        // A request that no worker will process, such as a repeated signal to a finished job, is only recorded.
        let done = admit::is_record_only(state, &self.request);
        let mut statements = StatementBatch::new(
            "INSERT INTO inbox (job, actor, reason, request, done, created_us) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
        );
        statements.int(known.id).text(self.by.actor.as_str()).text_or_null(self.by.reason.as_deref());
        let stored = StoredRequest { request: self.request.clone(), verified: self.by.verified };
        let stored = serde_json::to_string(&stored).expect("a request is plain data");
        statements.text(stored).int(done).int(now_us);
        if !done {
            known.snapshot.apply_request(&self.request);
            let now = &known.snapshot;
            statements.push(
                "UPDATE jobs SET inbox_pending = 1, cancel_requested = ?, state = ?, wake_at_us = ?, updated_us = ? \
                 WHERE id = ?",
            );
            statements.int(now.cancel_requested).int(state_number(now.state)).int_or_null(now.wake_at_us);
            statements.int(now_us).int(known.id);
        }
        let rows = tx.run_last(StatementName::INBOX_INSERT, statements).await?;
        Ok(Ok(RowReader::new(&rows[0][0], "inbox").int()?))
    }
}

/// Returns the pending requests to a job.
pub(crate) async fn read_inbox(readers: &Readers, job_id: &JobId) -> Result<Vec<InboxRow>, StoreError> {
    let mut statements = StatementBatch::new(&format!(
        "SELECT {INBOX_COLUMNS} FROM jobs j CROSS JOIN inbox i ON i.job = j.id AND i.done = 0 WHERE j.job_id = ? \
         ORDER BY i.id"
    ));
    statements.text(job_id.as_str());
    let rows = readers.run(StatementName::INBOX_READ, statements).await?;
    rows.iter().flatten().map(|row| InboxRow::try_from(RowReader::new(row, "inbox"))).collect()
}
