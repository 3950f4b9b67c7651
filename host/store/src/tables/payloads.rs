//! Payloads: bytes under a label, written once.

use latchwork_core::model::ids::JobId;
use latchwork_core::storage::{Batch, Payload, StoreError};

use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::group_state::GroupState;

/// Appends queries that find which payloads of the batches are already stored. Returns the number of appended
/// statements.
pub(crate) fn read(statements: &mut StatementBatch, batches: &[&Batch]) -> usize {
    let labels: Vec<(&JobId, &str)> = batches
        .iter()
        .flat_map(|batch| batch.writes.payloads.iter().map(|payload| (&batch.job_id, payload.label.as_str())))
        .collect();
    statements.push_over_rows(
        "SELECT j.job_id, p.label, p.bytes FROM ",
        2,
        " CROSS JOIN jobs j ON j.job_id = v.column1 CROSS JOIN payloads p ON p.job = j.id AND p.label = v.column2",
        &labels,
        |statements, (job_id, label)| {
            statements.text(job_id.as_str()).text(*label);
        },
    )
}

/// Loads a payload into the state of the group.
pub(crate) fn load_row(seen: &mut GroupState, mut row: RowReader<'_>) -> Result<(), StoreError> {
    let job_id = row.text()?;
    seen.update_job(&job_id, |standing| {
        let payload = payload(row)?;
        standing.payloads.insert(payload.label, payload.bytes);
        Ok(())
    });
    Ok(())
}

/// Reads a payload from the columns label and bytes.
pub(crate) fn payload(mut row: RowReader<'_>) -> Result<Payload, StoreError> {
    Ok(Payload { label: row.text()?, bytes: row.blob()? })
}

pub(crate) async fn read_payload(
    readers: &Readers,
    job_id: &JobId,
    label: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statements = StatementBatch::new(
        "SELECT p.label, p.bytes FROM jobs j CROSS JOIN payloads p ON p.job = j.id AND p.label = ? WHERE j.job_id = ?",
    );
    statements.text(label).text(job_id.as_str());
    let rows = readers.run(StatementName::PAYLOAD_READ, statements).await?;
    let found = rows.iter().flatten().next().map(|row| payload(RowReader::new(row, "payloads"))).transpose()?;
    Ok(found.map(|payload| payload.bytes))
}

/// Writes new payloads.
pub(crate) fn insert(statements: &mut StatementBatch, payloads: &[(i64, &Payload)]) {
    statements.push_over_rows(
        "INSERT INTO payloads SELECT column1, column2, column3 FROM ",
        3,
        " WHERE column1 IS NOT NULL",
        payloads,
        |statements, (job, payload)| {
            statements.int(*job).text(payload.label.as_str()).blob(payload.bytes.as_slice());
        },
    );
}
