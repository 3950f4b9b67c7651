//! Log positions that show whether an unanswered commit took effect.

use std::collections::BTreeMap;

use latchwork_core::model::ids::{Hash, JobId};

use crate::sql::connection::Connection;
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;

/// End of a log: next sequence number and hash of the last event.
pub(crate) type LogPosition = (u64, Hash);

/// Log position of a job before and after a batch. If a commit is not answered, these positions help to determine its
/// outcome.
pub(crate) struct BatchPositions {
    pub(crate) job_id: JobId,
    pub(crate) before: LogPosition,
    pub(crate) after: LogPosition,
}

/// Outcome of an unanswered commit, according to the log of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitOutcome {
    /// The log ends where it ended before the group.
    NotCommitted,
    /// The log ends where the group would have ended it.
    Committed,
    /// The outcome cannot be determined.
    Undetermined,
}

/// Reads the log positions of the jobs in `marks`. Returns for each job the outcome that its position proves.
pub(crate) async fn commit_outcomes(
    executor: &StatementExecutor,
    conn: &mut Connection,
    marks: &[BatchPositions],
) -> Result<Vec<CommitOutcome>, sqlx::Error> {
    let mut spans: BTreeMap<&JobId, (LogPosition, LogPosition)> = BTreeMap::new();
    for mark in marks {
        spans.entry(&mark.job_id).or_insert((mark.before, mark.after)).1 = mark.after;
    }
    let ids: Vec<&JobId> = spans.keys().copied().collect();
    let mut statements = StatementBatch::default();
    statements.push_over_rows(
        "SELECT j.job_id, j.next_seq, j.head FROM ",
        1,
        " CROSS JOIN jobs j ON j.job_id = v.column1",
        &ids,
        |statements, id| {
            statements.text(id.as_str());
        },
    );
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = executor.run(conn, StatementName::REREAD, statements).await?;
    let mut found = Vec::new();
    for row in rows.iter().flatten() {
        let mut row = RowReader::new(row, "jobs");
        let (Ok(job_id), Ok(seq), Ok(head)) = (row.text(), row.u64(), row.hash()) else {
            found.push(CommitOutcome::Undetermined);
            continue;
        };
        let (before, after) = spans[&JobId::from(job_id)];
        found.push(match (seq, head) {
            // The position proves nothing, because a batch without events does not move the end of the log.
            _ if before == after => CommitOutcome::Undetermined,
            place if place == after => CommitOutcome::Committed,
            place if place == before => CommitOutcome::NotCommitted,
            _ => CommitOutcome::Undetermined,
        });
    }
    Ok(found)
}
