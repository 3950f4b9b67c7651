//! Loads all stored data of a job.

use latchwork_core::model::ids::JobId;
use latchwork_core::rules::ledger::LedgerRow;
use latchwork_core::storage::{InboxRow, StoreError, StoredJob};

use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::rows::{INBOX_COLUMNS, JOB_COLUMNS, LEDGER_COLUMNS};
use crate::tables::{events, payloads, rows};

/// Returns all stored data of a job.
pub(crate) async fn read_record(readers: &Readers, job_id: &JobId) -> Result<Option<StoredJob>, StoreError> {
    // Read all tables in one transaction. Otherwise their rows could belong to different snapshots.
    let mut statements = StatementBatch::default();
    statements.push(&format!("SELECT {JOB_COLUMNS}, j.secret FROM jobs j WHERE j.job_id = ?")).text(job_id.as_str());
    statements.push(
        "SELECT e.id, e.count, e.head, e.bytes FROM jobs j CROSS JOIN events e ON e.id >= j.id * 4294967296 AND \
         e.id < (j.id + 1) * 4294967296 WHERE j.job_id = ? ORDER BY e.id",
    );
    statements.text(job_id.as_str());
    statements.push(&format!(
        "SELECT {LEDGER_COLUMNS} FROM jobs j CROSS JOIN ledger l ON l.job = j.id WHERE j.job_id = ? ORDER BY l.slot"
    ));
    statements.text(job_id.as_str());
    statements.push(
        "SELECT p.label, p.bytes FROM jobs j CROSS JOIN payloads p ON p.job = j.id WHERE j.job_id = ? ORDER BY \
         p.label",
    );
    statements.text(job_id.as_str());
    statements.push(&format!(
        "SELECT {INBOX_COLUMNS} FROM jobs j CROSS JOIN inbox i ON i.job = j.id AND i.done = 0 WHERE j.job_id = ? \
         ORDER BY i.id"
    ));
    statements.text(job_id.as_str());
    let rows = readers.run_snapshot(StatementName::LOAD, statements).await?;
    let Some(found) = rows[0].first() else { return Ok(None) };
    let mut stored = RowReader::new(found, "jobs");
    let (row, secret) = (rows::job(&mut stored)?, stored.hash()?);
    let events = events::chain(&row, rows[1].iter().map(|row| RowReader::new(row, "events")))?;
    let ledger =
        rows[2].iter().map(|row| LedgerRow::try_from(RowReader::new(row, "ledger"))).collect::<Result<_, _>>()?;
    let payloads =
        rows[3].iter().map(|row| payloads::payload(RowReader::new(row, "payloads"))).collect::<Result<_, _>>()?;
    let inbox = rows[4].iter().map(|row| InboxRow::try_from(RowReader::new(row, "inbox"))).collect::<Result<_, _>>()?;
    Ok(Some(StoredJob { row, secret, events, ledger, payloads, inbox }))
}
