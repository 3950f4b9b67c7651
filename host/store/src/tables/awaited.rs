//! Table of the signals and decisions that jobs await.

use std::collections::BTreeMap;

use latchwork_core::storage::StoreError;
use latchwork_core::storage::expectation::{Expectation, ExpectationState};

use crate::sql::row::RowReader;
use crate::sql::statement_batch::StatementBatch;

/// Appends the query for the signals and decisions that the job with this id awaits.
pub(crate) fn read(statements: &mut StatementBatch, job_id: &str) {
    statements.push(
        "SELECT a.name, a.key, a.state, a.until_us FROM jobs j CROSS JOIN awaited a ON a.job = j.id WHERE j.job_id = ?",
    );
    statements.text(job_id);
}

/// Reads one row of the query that [`read`] appended.
pub(crate) fn read_row(mut row: RowReader<'_>) -> Result<Expectation, StoreError> {
    let (name, key) = (row.text()?, row.text_or_null()?);
    let number = row.int()?;
    let state = ExpectationState::from_number(number);
    let state = state.ok_or_else(|| row.damaged(&format!("{number} is not the number of a state")))?;
    Ok(Expectation { name, key, state, until_us: row.int_or_null()? })
}

/// Appends the statements that store the signals and decisions that the jobs await now.
pub(crate) fn replace(statements: &mut StatementBatch, rows: &BTreeMap<(i64, &str), &Expectation>) {
    let rows: Vec<_> = rows.iter().collect();
    statements.push_upsert(
        "awaited",
        &["job", "name"],
        &["key", "state", "until_us"],
        &rows,
        |statements, ((job, name), awaited)| {
            statements.int(*job).text(*name).text_or_null(awaited.key.as_deref()).int(awaited.state.number());
            statements.int_or_null(awaited.until_us);
        },
    );
}
