//! Commit markers: rows that prove the commit of a transaction that no log row proves. They exist only on
//! PostgreSQL. After a crash a server reuses the transaction numbers of lost commits, so the number alone
//! proves nothing.

use crate::connection::Connection;
use crate::dialect::Dialect;
use crate::row::Stored;
use crate::script::Script;
use crate::statement::{Hand, Name};
use crate::writer::Part;

/// Retention time of commit markers in microseconds: one week. No worker asks for an older commit.
const KEPT_US: i64 = 7 * 24 * 3_600 * 1_000_000;

/// Numbers the transactions of one writer.
#[derive(Default)]
pub(crate) struct Marks {
    number: i64,
}

/// Commit marker of one transaction of a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    writer: String,
    number: i64,
}

impl Marks {
    /// Returns the marker for the transaction that writes this group, if the group needs one. `writer` is the
    /// server's id of the connection.
    pub(crate) fn next(&mut self, writer: Option<String>, group: &[Part]) -> Option<Marked> {
        let needed = group.iter().any(|part| match part {
            Part::Batch { batch, .. } => batch.events.is_empty(),
            Part::Work(ticket) => ticket.is_marked(),
            Part::Close(_) => false,
        });
        let writer = writer.filter(|_| needed)?;
        self.number += 1;
        Some(Marked { writer, number: self.number })
    }
}

impl Marked {
    /// Appends the statement that writes the marker and reads the transaction's time and position.
    pub(crate) fn beside(&self, script: &mut Script) {
        script.push(&format!(
            "WITH mark AS (INSERT INTO commits (writer, number, written_us) VALUES (?, ?, {now}) ON CONFLICT (writer) \
             DO UPDATE SET number = excluded.number, written_us = excluded.written_us) {moment}",
            now = Dialect::CLOCK,
            moment = Dialect::moment()
        ));
        script.text(self.writer.as_str()).int(self.number);
    }

    /// Returns true if the transaction was committed.
    pub(crate) async fn is_there(&self, hand: &Hand, conn: &mut Connection) -> Result<bool, sqlx::Error> {
        let mut script = Script::new("SELECT number FROM commits WHERE writer = ?");
        script.text(self.writer.as_str());
        let rows = hand.run(conn, Name::REREAD, script).await?;
        let row = rows.iter().flatten().next();
        let number = row.map(|row| Stored::new(row, "commits").int()).transpose();
        Ok(number.map_err(|error| sqlx::Error::Decode(error.to_string().into()))? == Some(self.number))
    }
}

/// Deletes the markers of writers that are long dead.
pub(crate) fn prune(script: &mut Script) {
    script.push(&format!("DELETE FROM commits WHERE written_us < {} - {KEPT_US}", Dialect::CLOCK));
}
