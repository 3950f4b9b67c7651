//! Where the two databases' SQL differs; everything else is one text for both.
//!
//! The text is SQLite's: `?` for values, and `CROSS JOIN … ON` where the order of the tables is to be
//! kept. [`Dialect::text`] makes PostgreSQL's of it.

/// Whose SQL is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite: one file, one machine.
    Sqlite,
    /// PostgreSQL: a server, any number of machines.
    Postgres,
}

impl Dialect {
    /// The time of a server, microseconds since 1970 UTC, as it passes.
    pub(crate) const CLOCK: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT";

    /// The server that was accepted last, as the row of `meta` has it. A row that another transaction has
    /// written than it says was loaded from a dump: it names no server.
    pub(crate) const SERVER: &str =
        "CASE WHEN CAST(CAST(xmin AS TEXT) AS BIGINT) = written % 4294967296 THEN server ELSE 'loaded' END";

    /// What stands there then.
    pub(crate) const LOADED: &str = "loaded";

    /// The number of the last transaction of a server.
    pub(crate) const LAST: &str = "CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) - 1";

    /// A statement as this database understands it.
    pub(crate) fn text(self, sql: &str) -> String {
        if self == Self::Sqlite {
            return sql.to_owned();
        }
        let mut text = String::with_capacity(sql.len() + 32);
        let mut values = 0;
        for (index, part) in sql.replace("CROSS JOIN", "JOIN").split('?').enumerate() {
            if index > 0 {
                values += 1;
                text.push_str(&format!("${values}"));
            }
            text.push_str(part);
        }
        text
    }

    /// How a transaction that writes begins. PostgreSQL: each statement sees what was committed
    /// before it, and the rows of jobs are locked first.
    pub(crate) fn opening(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN ISOLATION LEVEL READ COMMITTED",
        }
    }

    /// How a transaction begins whose statements all read the same moment.
    pub(crate) fn opening_to_read(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN",
            Self::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }

    /// A time that is bound; on PostgreSQL the database's own where none is.
    pub(crate) fn now(self) -> String {
        match self {
            Self::Sqlite => "?".to_owned(),
            Self::Postgres => format!("COALESCE(?, {})", Self::CLOCK),
        }
    }

    /// The numbers of a JSON array that is bound, as a query.
    pub(crate) fn numbers(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT value FROM json_each(?)",
            Self::Postgres => "SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(? AS JSON))",
        }
    }

    /// The texts of a JSON array that is bound, as a query.
    pub(crate) fn texts(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT value FROM json_each(?)",
            Self::Postgres => "SELECT value FROM json_array_elements_text(CAST(? AS JSON))",
        }
    }

    /// A statement behind which nobody else counts the jobs that wait until the transaction ends. SQLite
    /// has one writer.
    pub(crate) fn counting(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            // Any number that nothing else here locks.
            Self::Postgres => Some("SELECT pg_advisory_xact_lock(7165202911)"),
        }
    }

    /// Behind a query that takes rows to work on: those that another worker is taking are left out,
    /// never waited for. SQLite has one writer.
    pub(crate) fn take(self, tables: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!(" FOR UPDATE OF {tables} SKIP LOCKED"),
        }
    }

    /// Behind a query whose row nobody else may change until the transaction ends.
    pub(crate) fn hold(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE",
        }
    }

    /// The number of the next job.
    pub(crate) fn next_job(self) -> &'static str {
        match self {
            Self::Sqlite => "(SELECT coalesce(max(id), 0) + 1 FROM jobs)",
            Self::Postgres => "nextval('job_numbers')",
        }
    }

    /// The moment of an open transaction on PostgreSQL, its number, and where the database stands: asked for
    /// once its locks are held.
    pub(crate) fn moment() -> String {
        format!(
            "SELECT {}, CAST(pg_current_xact_id() AS TEXT), {}, accepted FROM meta WHERE id = 1",
            Self::CLOCK,
            Self::SERVER
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_serves_both() {
        let sql = "SELECT a FROM t CROSS JOIN u ON u.id = t.id WHERE b = ? AND c IN (?, ?)";
        assert_eq!(Dialect::Sqlite.text(sql), sql);
        let postgres = "SELECT a FROM t JOIN u ON u.id = t.id WHERE b = $1 AND c IN ($2, $3)";
        assert_eq!(Dialect::Postgres.text(sql), postgres);
    }
}
