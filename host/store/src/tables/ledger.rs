//! Reads and writes ledger rows.

use std::collections::BTreeMap;

use latchwork_core::model::ids::{JobId, Slot};
use latchwork_core::rules::ledger::{LedgerRow, RowState};
use latchwork_core::storage::{Batch, StoreError};

use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::group_state::GroupState;
use crate::tables::rows::LEDGER_COLUMNS;

/// Appends the queries for the ledger rows that the batches write. Returns the number of statements.
pub(crate) fn read(statements: &mut StatementBatch, batches: &[&Batch]) -> usize {
    let slots: Vec<(&JobId, &Slot)> = batches
        .iter()
        .flat_map(|batch| batch.writes.ledger.iter().map(|write| (&batch.job_id, &write.row().slot)))
        .collect();
    statements.push_over_rows(
        &format!("SELECT j.job_id, {LEDGER_COLUMNS} FROM "),
        2,
        " CROSS JOIN jobs j ON j.job_id = v.column1 CROSS JOIN ledger l ON l.job = j.id AND l.slot = v.column2",
        &slots,
        |statements, (job_id, slot)| {
            statements.text(job_id.as_str()).text(slot.as_str());
        },
    )
}

/// Loads a ledger row into the state of the group.
pub(crate) fn load_row(seen: &mut GroupState, mut row: RowReader<'_>) -> Result<(), StoreError> {
    let job_id = row.text()?;
    seen.update_job(&job_id, |standing| {
        let row = LedgerRow::try_from(row)?;
        standing.ledger.insert(row.slot.clone(), row);
        Ok(())
    });
    Ok(())
}

/// Appends the statements that write the current ledger rows.
pub(crate) fn replace(statements: &mut StatementBatch, rows: &BTreeMap<(i64, Slot), LedgerRow>) {
    let rows: Vec<(i64, &LedgerRow)> = rows.iter().map(|((job, _), row)| (*job, row)).collect();
    statements.push_upsert(
        "ledger",
        &["job", "slot"],
        &[
            "operator",
            "args_hash",
            "state",
            "attempt",
            "nonce",
            "try",
            "first_attempt",
            "first_started_us",
            "world_changing",
            "timeout_ms",
            "deadline_us",
            "next_try_us",
            "result_hash",
            "action_key",
        ],
        &rows,
        |statements, (job, row)| {
            statements.int(*job).text(row.slot.as_str()).text(row.operator.as_str()).hash(row.args_hash);
            statements.int(row.state as i64).int(row.attempt).bits(row.nonce).int(row.try_no).int(row.first_attempt);
            statements.int(row.first_started_us).int(row.world_changing).int(row.timeout_ms).int(row.deadline_us);
            statements.int_or_null(row.next_try_us).hash_or_null(row.result_hash).hash_or_null(row.action_key);
        },
    );
}
pub(crate) async fn read_open_rows(readers: &Readers, job_id: &JobId) -> Result<Vec<LedgerRow>, StoreError> {
    let mut statements = StatementBatch::new(&format!(
        "SELECT {LEDGER_COLUMNS} FROM jobs j CROSS JOIN ledger l ON l.job = j.id WHERE j.job_id = ? ORDER BY l.slot"
    ));
    statements.text(job_id.as_str());
    let rows = readers.run(StatementName::RECOVER, statements).await?;
    // Convert every row before filtering. Otherwise a row with an unknown state would be left out and not reported.
    let rows = rows.iter().flatten().map(|row| LedgerRow::try_from(RowReader::new(row, "ledger")));
    let open = |row: &LedgerRow| matches!(row.state, RowState::Inflight | RowState::Indeterminate);
    rows.filter(|row| row.as_ref().map_or(true, open)).collect()
}
