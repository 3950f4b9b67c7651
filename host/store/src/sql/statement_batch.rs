//! Builds batches of SQL statements that operate on sets of bound rows.
//!
//! A list of rows becomes a `VALUES` list of one of a few fixed sizes. The last list is filled up with NULL rows that
//! match nothing. The fixed sizes keep the number of different SQL texts small, so each text is prepared once. The
//! largest size keeps the number of statements of a group small.
//!
//! A statement batch is written once for both databases. [`crate::sql::dialect`] contains the differences. SQLite gets
//! the whole statement batch in one call, and PostgreSQL gets one statement after the other.

use latchwork_core::model::ids::Hash;

/// Possible numbers of rows in a `VALUES` list.
const SIZES: [usize; 4] = [1, 4, 16, 64];

/// Bound value. NULL values have a type too, because PostgreSQL requires it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BoundValue {
    Int(Option<i64>),
    Text(Option<String>),
    Blob(Option<Vec<u8>>),
}

impl BoundValue {
    /// Returns NULL of the same type.
    fn null(&self) -> Self {
        match self {
            Self::Int(_) => Self::Int(None),
            Self::Text(_) => Self::Text(None),
            Self::Blob(_) => Self::Blob(None),
        }
    }
}

/// Several SQL statements and their bound values, in order.
#[derive(Clone, Default)]
pub(crate) struct StatementBatch {
    /// All statements, separated by `;`. No literal or name in a statement contains a semicolon.
    pub(crate) sql: String,
    pub(crate) args: Vec<BoundValue>,
    /// Start of each statement in `sql` and in `args`.
    starts: Vec<(usize, usize)>,
}

impl StatementBatch {
    /// Creates a statement batch with one statement. The caller then binds the values of the statement.
    pub(crate) fn new(sql: &str) -> Self {
        let mut statements = Self::default();
        statements.push(sql);
        statements
    }

    /// Appends a statement. The caller then binds the values of the statement.
    pub(crate) fn push(&mut self, sql: &str) -> &mut Self {
        self.next_statement();
        self.sql.push_str(sql);
        self
    }

    /// Inserts a statement without values before all other statements.
    pub(crate) fn push_first(&mut self, sql: &str) {
        let longer = sql.len() + 1;
        self.sql.insert(0, ';');
        self.sql.insert_str(0, sql);
        for (start, _) in &mut self.starts {
            *start += longer;
        }
        self.starts.insert(0, (0, 0));
    }

    /// Returns true if the statement batch has no statements.
    pub(crate) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the number of statements.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns each statement with its values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[BoundValue])> {
        let ends = self.starts.iter().skip(1).copied().chain([(self.sql.len() + 1, self.args.len())]);
        self.starts
            .iter()
            .zip(ends)
            .map(|((from, first), (to, last))| (&self.sql[*from..to - 1], &self.args[*first..last]))
    }

    fn next_statement(&mut self) {
        if !self.is_empty() {
            self.sql.push(';');
        }
        self.starts.push((self.sql.len(), self.args.len()));
    }

    /// Appends the statement `before (VALUES …) AS v after` over all rows, in as many chunks as necessary.
    /// Returns the number of appended statements. The statement must ignore rows in which every column is NULL.
    pub(crate) fn push_over_rows<T>(
        &mut self,
        before: &str,
        columns: usize,
        after: &str,
        rows: &[T],
        mut bind: impl FnMut(&mut StatementBatch, &T),
    ) -> usize {
        let mut count = 0;
        let mut rest = rows;
        while !rest.is_empty() {
            let most = SIZES[SIZES.len() - 1];
            let taken = rest.len().min(most);
            let size = SIZES.into_iter().find(|size| *size >= taken).expect("the largest size is the most");
            self.next_statement();
            self.sql.push_str(before);
            self.sql.push_str("(VALUES ");
            for row in 0..size {
                self.sql.push_str(if row == 0 { "(?" } else { ",(?" });
                for _ in 1..columns {
                    self.sql.push_str(",?");
                }
                self.sql.push(')');
            }
            self.sql.push_str(") AS v");
            self.sql.push_str(after);
            let first = self.args.len();
            for row in &rest[..taken] {
                bind(self, row);
            }
            for index in 0..(size - taken) * columns {
                let empty = self.args[first + index % columns].null();
                self.args.push(empty);
            }
            rest = &rest[taken..];
            count += 1;
        }
        count
    }

    /// Inserts rows and replaces rows with the same key.
    pub(crate) fn push_upsert<T>(
        &mut self,
        table: &str,
        key: &[&str],
        rest: &[&str],
        rows: &[T],
        bind: impl FnMut(&mut StatementBatch, &T),
    ) {
        if rows.is_empty() {
            return;
        }
        let columns = [key, rest].concat();
        let values: Vec<String> = (1..=columns.len()).map(|number| format!("column{number}")).collect();
        let set: Vec<String> = rest.iter().map(|column| format!("{column} = excluded.{column}")).collect();
        let then = if set.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", set.join(", ")) };
        self.push_over_rows(
            &format!("INSERT INTO {table} ({}) SELECT {} FROM ", columns.join(", "), values.join(", ")),
            columns.len(),
            &format!(" WHERE column1 IS NOT NULL ON CONFLICT ({}) DO {then}", key.join(", ")),
            rows,
            bind,
        );
    }

    pub(crate) fn int(&mut self, value: impl Into<i64>) -> &mut Self {
        self.int_or_null(Some(value.into()))
    }
    pub(crate) fn int_or_null(&mut self, value: Option<i64>) -> &mut Self {
        self.add(BoundValue::Int(value))
    }
    /// Binds the 64 bits of an unsigned number as a signed number, because both databases lack unsigned
    /// numbers.
    pub(crate) fn bits(&mut self, value: u64) -> &mut Self {
        self.int(value.cast_signed())
    }
    pub(crate) fn text(&mut self, value: impl Into<String>) -> &mut Self {
        self.add(BoundValue::Text(Some(value.into())))
    }
    pub(crate) fn text_or_null(&mut self, value: Option<&str>) -> &mut Self {
        self.add(BoundValue::Text(value.map(str::to_owned)))
    }
    pub(crate) fn blob(&mut self, value: impl Into<Vec<u8>>) -> &mut Self {
        self.add(BoundValue::Blob(Some(value.into())))
    }
    pub(crate) fn blob_or_null(&mut self, value: Option<&[u8]>) -> &mut Self {
        self.add(BoundValue::Blob(value.map(<[u8]>::to_vec)))
    }
    pub(crate) fn hash(&mut self, value: Hash) -> &mut Self {
        self.blob(value.0)
    }
    pub(crate) fn hash_or_null(&mut self, value: Option<Hash>) -> &mut Self {
        self.add(BoundValue::Blob(value.map(|hash| hash.0.to_vec())))
    }

    fn add(&mut self, value: BoundValue) -> &mut Self {
        self.args.push(value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_batch_splits_into_its_statements() {
        let mut statements = StatementBatch::new("SELECT 1");
        statements.push("SELECT ?").int(7);
        let chunks = statements.push_over_rows("SELECT * FROM ", 2, " WHERE true", &[1_i64, 2], |statements, row| {
            statements.int(*row).text("x");
        });
        statements.push_first("BEGIN");
        statements.push("COMMIT");
        assert_eq!((chunks, statements.len()), (1, 5));
        let (int, text) = (BoundValue::Int, |value: &str| BoundValue::Text(Some(value.to_owned())));
        let four = "SELECT * FROM (VALUES (?,?),(?,?),(?,?),(?,?)) AS v WHERE true";
        let filled = [
            int(Some(1)),
            text("x"),
            int(Some(2)),
            text("x"),
            int(None),
            BoundValue::Text(None),
            int(None),
            BoundValue::Text(None),
        ];
        let parts: Vec<_> = statements.iter().collect();
        assert_eq!(parts[0], ("BEGIN", &[][..]));
        assert_eq!(parts[1], ("SELECT 1", &[][..]));
        assert_eq!(parts[2], ("SELECT ?", &[int(Some(7))][..]));
        assert_eq!(parts[3], (four, &filled[..]));
        assert_eq!(parts[4], ("COMMIT", &[][..]));
        assert_eq!(statements.sql, format!("BEGIN;SELECT 1;SELECT ?;{four};COMMIT"));
    }
}
