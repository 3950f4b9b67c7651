//! What a writer leaves behind in a transaction of which no row of a log would tell whether it was
//! committed. On a server alone: after a crash it gives the number of a transaction that it lost to
//! another one, so that the number proves nothing.

use crate::connection::Connection;
use crate::dialect::Dialect;
use crate::row::Stored;
use crate::script::Script;
use crate::statement::{Hand, Name};
use crate::writer::Part;

/// Microseconds after which nobody asks any more what a writer committed last: a week.
const KEPT_US: i64 = 7 * 24 * 3_600 * 1_000_000;

/// The transactions of one writer, numbered.
#[derive(Default)]
pub(crate) struct Marks {
    number: i64,
}

/// One transaction of a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    writer: String,
    number: i64,
}

impl Marks {
    /// The mark of the transaction that writes this group, where it needs one. `writer` is what the server
    /// calls the connection.
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
    /// The statement that reads a transaction's moment, with the mark written beside it.
    pub(crate) fn beside(&self, script: &mut Script) {
        script.push(&format!(
            "WITH mark AS (INSERT INTO commits (writer, number, written_us) VALUES (?, ?, {now}) ON CONFLICT (writer) \
             DO UPDATE SET number = excluded.number, written_us = excluded.written_us) {moment}",
            now = Dialect::CLOCK,
            moment = Dialect::moment()
        ));
        script.text(self.writer.as_str()).int(self.number);
    }

    /// Whether the transaction is there.
    pub(crate) async fn is_there(&self, hand: &Hand, conn: &mut Connection) -> Result<bool, sqlx::Error> {
        let mut script = Script::new("SELECT number FROM commits WHERE writer = ?");
        script.text(self.writer.as_str());
        let rows = hand.run(conn, Name::REREAD, script).await?;
        let row = rows.iter().flatten().next();
        let number = row.map(|row| Stored::new(row, "commits").int()).transpose();
        Ok(number.map_err(|error| sqlx::Error::Decode(error.to_string().into()))? == Some(self.number))
    }
}

/// Forget writers that are long gone.
pub(crate) fn prune(script: &mut Script) {
    script.push(&format!("DELETE FROM commits WHERE written_us < {} - {KEPT_US}", Dialect::CLOCK));
}
