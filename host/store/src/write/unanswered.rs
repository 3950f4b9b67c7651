//! Outcome of a commit that was not answered.

use crate::server::checks::ServerIdentity;
use crate::sql::connection::{Connection, RetryBudget};
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;
use crate::transaction::commit_marker::CommitMarker;
use crate::write::log_positions::{BatchPositions, CommitOutcome, commit_outcomes};

/// Data that identifies a transaction after an unanswered commit.
pub(crate) struct TransactionEvidence {
    /// Number that the server gave to the transaction.
    pub(crate) number: Option<String>,
    /// Commit marker that the transaction wrote.
    pub(crate) marker: Option<CommitMarker>,
    /// Server on which the transaction was begun.
    pub(crate) server: ServerIdentity,
}

/// Determines whether the transaction was committed. `conn` is a new connection to the server `here`.
///
/// On PostgreSQL, queries the status of the transaction number. The status "committed" alone is not enough: the commit
/// marker or the ends of the logs must also show that the number belongs to this transaction.
///
/// Without a status, as on SQLite, compares the ends of the logs. The log of one job decides for the whole group,
/// because a transaction is written as a whole or not at all.
pub(crate) async fn read_outcomes(
    executor: &StatementExecutor,
    conn: &mut Connection,
    marks: &[BatchPositions],
    evidence: TransactionEvidence,
    here: &ServerIdentity,
    patience: &mut RetryBudget,
) -> Result<Vec<CommitOutcome>, sqlx::Error> {
    let TransactionEvidence { number, marker: mark, server: place } = evidence;
    // A transaction number has a meaning only on the server and timeline that assigned it. On any other server, only
    // the stored rows are evidence.
    let is_here = *here == place;
    let ended = match number.filter(|_| is_here) {
        Some(number) => transaction_status(executor, conn, &number, patience).await,
        None if mark.is_some() && !is_here => Ok(Some(true)),
        None => Ok(None),
    };
    match ended {
        // The transaction number alone proves nothing, because a server that crashed reuses the numbers of lost
        // commits. The commit marker proves that this transaction was committed.
        Ok(Some(true)) if let Some(mark) = &mark => mark
            .is_committed(executor, conn)
            .await
            .map(|is_there| vec![if is_there { CommitOutcome::Committed } else { CommitOutcome::NotCommitted }]),
        // Without a commit marker, the ends of the logs decide. The transaction was lost if at least one log ends as
        // before the transaction and no log ends as after the transaction. The committed number then belongs to another
        // transaction.
        Ok(Some(true)) => commit_outcomes(executor, conn, marks).await.map(|seen| {
            let lost = seen.contains(&CommitOutcome::NotCommitted) && !seen.contains(&CommitOutcome::Committed);
            vec![if lost { CommitOutcome::NotCommitted } else { CommitOutcome::Committed }]
        }),
        Ok(Some(false)) => Ok(vec![CommitOutcome::NotCommitted]),
        Ok(None) => commit_outcomes(executor, conn, marks).await,
        Err(error) => Err(error),
    }
}

/// SQLSTATE `invalid_parameter_value`: `pg_xact_status` was called with a number that was never assigned.
const NEVER_ASSIGNED: &str = "22023";

/// Returns true if the transaction with the number `number` was committed, and false if it was aborted or lost. Returns
/// `None` if the server no longer knows the transaction. Waits while an old session is still committing the
/// transaction.
async fn transaction_status(
    executor: &StatementExecutor,
    conn: &mut Connection,
    number: &str,
    patience: &mut RetryBudget,
) -> Result<Option<bool>, sqlx::Error> {
    loop {
        let mut statements = StatementBatch::new("SELECT pg_xact_status(CAST(? AS xid8))");
        statements.text(number);
        let rows = match executor.run(conn, StatementName::OUTCOME, statements).await {
            // The server never assigned this number, because it crashed and lost the transaction.
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(NEVER_ASSIGNED) => {
                return Ok(Some(false));
            }
            other => other?,
        };
        let reported =
            rows.iter().flatten().next().and_then(|row| RowReader::new(row, "transaction").text_or_null().ok());
        match reported.flatten().as_deref() {
            Some("committed") => return Ok(Some(true)),
            Some("aborted") => return Ok(Some(false)),
            Some(_) if patience.wait().await => {}
            _ => return Ok(None),
        }
    }
}
