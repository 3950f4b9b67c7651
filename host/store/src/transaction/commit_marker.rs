//! Commit markers: rows that prove that a transaction was committed. A marker is written if the event logs alone do not
//! prove the commit. Markers exist only on PostgreSQL. There, the transaction number alone proves nothing: after a
//! crash, a server reuses the numbers of lost commits.

use crate::sql::connection::Connection;
use crate::sql::dialect::Dialect;
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;

/// Retention time of commit markers in microseconds: one week. No worker asks for an older commit.
const RETENTION_US: i64 = 7 * 24 * 3_600 * 1_000_000;

/// Counter that gives each marked transaction of a writer a number.
#[derive(Default)]
pub(crate) struct MarkerSequence {
    number: i64,
}

/// Commit marker of one transaction of a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitMarker {
    writer: String,
    number: i64,
}

impl MarkerSequence {
    /// Returns the marker for the next transaction if the transaction needs one. `writer` is the server's id of the
    /// connection.
    pub(crate) fn next(&mut self, writer: Option<String>, needed: bool) -> Option<CommitMarker> {
        let writer = writer.filter(|_| needed)?;
        self.number += 1;
        Some(CommitMarker { writer, number: self.number })
    }
}

impl CommitMarker {
    /// Appends the statement that writes the marker and reads the transaction's time and position.
    pub(crate) fn push_with_clock(&self, statements: &mut StatementBatch) {
        statements.push(&format!(
            "WITH mark AS (INSERT INTO commits (writer, number, written_us) VALUES (?, ?, {now}) ON CONFLICT (writer) \
             DO UPDATE SET number = excluded.number, written_us = excluded.written_us) {moment}",
            now = Dialect::CLOCK,
            moment = Dialect::clock_query()
        ));
        statements.text(self.writer.as_str()).int(self.number);
    }

    /// Returns true if the transaction was committed.
    pub(crate) async fn is_committed(
        &self,
        executor: &StatementExecutor,
        conn: &mut Connection,
    ) -> Result<bool, sqlx::Error> {
        let mut statements = StatementBatch::new("SELECT number FROM commits WHERE writer = ?");
        statements.text(self.writer.as_str());
        let rows = executor.run(conn, StatementName::REREAD, statements).await?;
        let row = rows.iter().flatten().next();
        let number = row.map(|row| RowReader::new(row, "commits").int()).transpose();
        Ok(number.map_err(|error| sqlx::Error::Decode(error.to_string().into()))? == Some(self.number))
    }
}

/// Appends the statement that deletes markers older than `RETENTION_US`. Their writers ended long ago.
pub(crate) fn prune(statements: &mut StatementBatch) {
    statements.push(&format!("DELETE FROM commits WHERE written_us < {} - {RETENTION_US}", Dialect::CLOCK));
}
