//! Durable timers and waiting jobs.
//!
//! A due timer is moved from its table to its job's inbox in one transaction, so it fires once. The current or next
//! lease holder turns the inbox row into events. A crash between these two steps loses nothing, because the inbox row
//! is durable.
//!
//! A waiting job becomes `PENDING` when its time has come. The query for a claimable job never reads waiting jobs.

use std::collections::BTreeMap;

use async_trait::async_trait;

use latchwork_core::storage::{InboxRequest, StoreError};

use crate::os::clock::Timestamps;
use crate::sql::dialect::Dialect;
use crate::sql::error::TransactionFailure;
use crate::sql::readers::Readers;
use crate::sql::row::{RowReader, StoredRow};
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::inbox;
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;

/// Maximum number of timers, and of waiting jobs, per transaction. More than this number can be due only if no worker
/// ran for a long time.
const FIRED_MAX: i64 = 256;

/// Writes the current timers. `None` as the due time removes a timer.
pub(crate) fn replace(statements: &mut StatementBatch, timers: &BTreeMap<(i64, &str), Option<i64>>) {
    let armed: Vec<(i64, &str, i64)> =
        timers.iter().filter_map(|((job, name), due)| Some((*job, *name, (*due)?))).collect();
    let gone: Vec<(i64, &str)> = timers.iter().filter(|(_, due)| due.is_none()).map(|(id, _)| *id).collect();
    statements.push_upsert("timers", &["job", "name"], &["due_us"], &armed, |statements, (job, name, due_us)| {
        statements.int(*job).text(*name).int(*due_us);
    });
    remove(statements, &gone);
}

fn remove(statements: &mut StatementBatch, timers: &[(i64, &str)]) {
    statements.push_over_rows(
        "DELETE FROM timers WHERE (job, name) IN (SELECT column1, column2 FROM ",
        2,
        ")",
        timers,
        |statements, (job, name)| {
            statements.int(*job).text(*name);
        },
    );
}

/// Appends the query for the earliest timer, the earliest waiting job and the current time. [`read_next`] reads the
/// resulting row. The parameter of the query is the current time, or NULL if the server supplies the time.
pub(crate) fn push_next_query(statements: &mut StatementBatch, dialect: Dialect, now: Option<&Timestamps>) {
    statements.push(&format!(
        "SELECT (SELECT MIN(due_us) FROM timers), (SELECT MIN(wake_at_us) FROM jobs WHERE state = 3), {}",
        dialect.now()
    ));
    statements.int_or_null(now.map(|now| now.now_us));
}

/// Returns the time of the earliest timer or waiting job, and the current time.
pub(crate) fn read_next(row: &StoredRow) -> Result<(Option<i64>, i64), StoreError> {
    let mut row = RowReader::new(row, "timers");
    let (timer_us, wake_us) = (row.int_or_null()?, row.int_or_null()?);
    Ok((timer_us.into_iter().chain(wake_us).min(), row.int()?))
}

/// Builds the queries for due timers with their jobs, and for waiting jobs that are due. Rows that a lease
/// holder has locked for its own writes are skipped.
pub(crate) fn due(dialect: Dialect, now_us: i64) -> StatementBatch {
    let mut statements = StatementBatch::new(&format!(
        "SELECT t.job, t.name, t.due_us, j.state FROM timers t CROSS JOIN jobs j ON j.id = t.job WHERE t.due_us <= ? ORDER \
         BY t.due_us, t.job, t.name LIMIT ?{}",
        dialect.skip_locked("t, j")
    ));
    statements.int(now_us).int(FIRED_MAX);
    statements.push(&format!(
        "SELECT j.id FROM jobs j WHERE j.state = 3 AND j.wake_at_us <= ? ORDER BY j.wake_at_us, j.id LIMIT ?{}",
        dialect.skip_locked("j")
    ));
    statements.int(now_us).int(FIRED_MAX);
    statements
}

/// Work that fires due timers and ends due waits. Returns true if nothing more is due.
pub(crate) struct FireTimers;

#[async_trait]
impl TransactionPart for FireTimers {
    type Output = bool;

    fn starts_work(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let now_us = tx.now().await?.now_us;
        let statements = due(tx.dialect, now_us);
        let rows = tx.run(StatementName::TIMERS_FIND, statements).await?;
        let mut due = Vec::new();
        for row in &rows[0] {
            let mut row = RowReader::new(row, "timers");
            due.push((row.int()?, row.text()?, row.int()?, row.job_state()?));
        }
        let waited: Vec<i64> = rows[1].iter().map(|row| RowReader::new(row, "jobs").int()).collect::<Result<_, _>>()?;
        if due.is_empty() && waited.is_empty() {
            return Ok(true);
        }
        // A finished job does not need its timers.
        let requests: Vec<(i64, InboxRequest)> = due
            .iter()
            .filter(|(.., state)| !state.is_terminal())
            .map(|(job, name, due_us, _)| (*job, InboxRequest::Timer { name: name.clone(), due_us: *due_us }))
            .collect();
        let gone: Vec<(i64, &str)> = due.iter().map(|(job, name, ..)| (*job, name.as_str())).collect();
        let mut statements = StatementBatch::default();
        inbox::insert(&mut statements, &requests, now_us);
        mark_inbox_pending(&mut statements, &requests, now_us);
        end_waits(&mut statements, &waited, now_us);
        remove(&mut statements, &gone);
        tx.run_last(StatementName::TIMERS_FIRE, statements).await?;
        Ok((due.len().max(waited.len()) as i64) < FIRED_MAX)
    }
}

/// Marks the inbox of jobs as pending. A job that waits, is parked or has diverged becomes claimable.
fn mark_inbox_pending(statements: &mut StatementBatch, requests: &[(i64, InboxRequest)], now_us: i64) {
    let jobs: std::collections::BTreeSet<i64> = requests.iter().map(|(job, _)| *job).collect();
    let jobs: Vec<i64> = jobs.into_iter().collect();
    statements.push_over_rows(
        "UPDATE jobs SET inbox_pending = 1, updated_us = v.column2, state = CASE WHEN state IN (3, 4, 5) THEN 1 ELSE \
         state END, wake_at_us = CASE WHEN state IN (3, 4, 5) THEN NULL ELSE wake_at_us END FROM ",
        2,
        " WHERE jobs.id = v.column1",
        &jobs,
        |statements, job| {
            statements.int(*job).int(now_us);
        },
    );
}

/// Makes the given waiting jobs claimable, because their time has come.
fn end_waits(statements: &mut StatementBatch, waited: &[i64], now_us: i64) {
    statements.push_over_rows(
        "UPDATE jobs SET state = 1, wake_at_us = NULL, updated_us = v.column2 FROM ",
        2,
        " WHERE jobs.id = v.column1",
        waited,
        |statements, job| {
            statements.int(*job).int(now_us);
        },
    );
}

/// Returns the time of the next timer or waiting job, and the database's current time. `now` is the current time, or
/// `None` if the server supplies the time.
pub(crate) async fn read_next_timer(
    readers: &Readers,
    dialect: Dialect,
    now: Option<&Timestamps>,
) -> Result<(Option<i64>, i64), StoreError> {
    let mut statements = StatementBatch::default();
    push_next_query(&mut statements, dialect, now);
    let rows = readers.run(StatementName::TIMERS_LOOK, statements).await?;
    read_next(&rows[0][0])
}
