//! Differences between the SQL of the two databases. All other SQL text is the same for both.
//!
//! The common text is written for SQLite: `?` for values, and `CROSS JOIN … ON` to fix the order of the tables.
//! [`Dialect::translate`] converts the text for PostgreSQL.

/// SQL dialect of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite: one file, one machine.
    Sqlite,
    /// PostgreSQL: a server, any number of machines.
    Postgres,
}

impl Dialect {
    /// SQL expression for the current time of the server in microseconds since 1970 UTC. The value changes
    /// during a transaction.
    pub(crate) const CLOCK: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT";

    /// SQL expression for the identity of the last accepted server. The row of `meta` stores this identity. It also
    /// stores the number of the transaction that wrote the row. If this number does not match the row's `xmin`, the row
    /// was loaded from a dump. The expression then has the value [`Dialect::LOADED`].
    pub(crate) const ACCEPTED_SERVER: &str =
        "CASE WHEN CAST(CAST(xmin AS TEXT) AS BIGINT) = written % 4294967296 THEN server ELSE 'loaded' END";

    /// Value of [`Dialect::ACCEPTED_SERVER`] after a dump was loaded.
    pub(crate) const LOADED: &str = "loaded";

    /// SQL expression for the number of the last transaction of a server.
    pub(crate) const LAST_TRANSACTION: &str =
        "CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) - 1";

    /// Converts a statement to this dialect.
    pub(crate) fn translate(self, sql: &str) -> String {
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

    /// Returns the statement that begins a writing transaction. On PostgreSQL each statement has its own snapshot, so
    /// another writer could change a job between two statements. The transaction therefore locks the rows of its jobs
    /// first.
    pub(crate) fn opening(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN ISOLATION LEVEL READ COMMITTED",
        }
    }

    /// Returns the statement that begins a reading transaction in which all statements see the same snapshot.
    pub(crate) fn opening_to_read(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN",
            Self::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }

    /// Returns the SQL expression for the current time. The expression has one parameter: the time. On PostgreSQL, the
    /// parameter NULL stands for the server's time.
    pub(crate) fn now(self) -> String {
        match self {
            Self::Sqlite => "?".to_owned(),
            Self::Postgres => format!("COALESCE(?, {})", Self::CLOCK),
        }
    }

    /// Returns a query whose rows are the numbers in a bound JSON array.
    pub(crate) fn numbers(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT value FROM json_each(?)",
            Self::Postgres => "SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(? AS JSON))",
        }
    }

    /// Returns a query whose rows are the texts in a bound JSON array.
    pub(crate) fn texts(self) -> &'static str {
        match self {
            Self::Sqlite => "SELECT value FROM json_each(?)",
            Self::Postgres => "SELECT value FROM json_array_elements_text(CAST(? AS JSON))",
        }
    }

    /// Returns the statement that keeps other transactions from counting pending jobs until this transaction
    /// ends. SQLite needs no such statement, because it has one writer.
    pub(crate) fn count_lock(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            // Arbitrary number that no other lock in this crate uses.
            Self::Postgres => Some("SELECT pg_advisory_xact_lock(7165202911)"),
        }
    }

    /// Returns the suffix that makes a query lock its rows. Rows locked by another worker are skipped without
    /// waiting. SQLite needs no suffix, because it has one writer.
    pub(crate) fn skip_locked(self, tables: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!(" FOR UPDATE OF {tables} SKIP LOCKED"),
        }
    }

    /// Returns the suffix that makes a query lock its row. The row then cannot change until the transaction ends.
    pub(crate) fn for_update(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE",
        }
    }

    /// Returns the expression for the key of the next job.
    pub(crate) fn next_job(self) -> &'static str {
        match self {
            Self::Sqlite => "(SELECT coalesce(max(id), 0) + 1 FROM jobs)",
            Self::Postgres => "nextval('job_numbers')",
        }
    }

    /// Returns the PostgreSQL query for four values: the server's time, the number of the open transaction,
    /// the identity of the last accepted server, and how often the database was accepted after a restore. The
    /// query must run after all locks are held.
    pub(crate) fn clock_query() -> String {
        format!(
            "SELECT {}, CAST(pg_current_xact_id() AS TEXT), {}, accepted FROM meta WHERE id = 1",
            Self::CLOCK,
            Self::ACCEPTED_SERVER
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_text_is_translated_for_postgres() {
        let sql = "SELECT a FROM t CROSS JOIN u ON u.id = t.id WHERE b = ? AND c IN (?, ?)";
        assert_eq!(Dialect::Sqlite.translate(sql), sql);
        let postgres = "SELECT a FROM t JOIN u ON u.id = t.id WHERE b = $1 AND c IN ($2, $3)";
        assert_eq!(Dialect::Postgres.translate(sql), postgres);
    }
}
