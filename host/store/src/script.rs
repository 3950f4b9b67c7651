//! Building scripts: set-based statements over bound rows.
//!
//! A list of rows becomes `VALUES` of one of a few fixed sizes, the last one filled up with
//! NULL rows that match nothing. So few different texts exist, each is prepared once, and a
//! group of any size takes few statements.

use latchwork_core::ids::Hash;
use sqlx::Arguments;
use sqlx::sqlite::SqliteArguments;

/// Numbers of rows that are prepared for.
const SIZES: [usize; 4] = [1, 4, 16, 64];

/// Several statements and the values they bind, in order.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) sql: String,
    pub(crate) args: SqliteArguments,
}

impl Script {
    /// A script of this text, whose values are bound next.
    pub(crate) fn new(sql: &str) -> Self {
        Self { sql: sql.to_owned(), args: SqliteArguments::default() }
    }

    /// Append a statement without values.
    pub(crate) fn push(&mut self, sql: &str) {
        self.sql.push_str(sql);
        self.sql.push(';');
    }

    /// Append the statement `before (VALUES …) after;` over all rows, in as many chunks as it
    /// takes, and answer their number. The statement must ignore rows that are NULL throughout.
    pub(crate) fn over<T>(
        &mut self,
        before: &str,
        columns: usize,
        after: &str,
        rows: &[T],
        mut bind: impl FnMut(&mut Script, &T),
    ) -> usize {
        let mut statements = 0;
        let mut rest = rows;
        while !rest.is_empty() {
            let most = SIZES[SIZES.len() - 1];
            let taken = rest.len().min(most);
            let size = SIZES.into_iter().find(|size| *size >= taken).expect("the largest size is the most");
            self.sql.push_str(before);
            self.sql.push_str("(VALUES ");
            for row in 0..size {
                self.sql.push_str(if row == 0 { "(?" } else { ",(?" });
                for _ in 1..columns {
                    self.sql.push_str(",?");
                }
                self.sql.push(')');
            }
            self.sql.push(')');
            self.sql.push_str(after);
            self.sql.push(';');
            for row in &rest[..taken] {
                bind(self, row);
            }
            for _ in 0..(size - taken) * columns {
                self.int_or_null(None);
            }
            rest = &rest[taken..];
            statements += 1;
        }
        statements
    }

    pub(crate) fn int(&mut self, value: impl Into<i64>) -> &mut Self {
        self.add(value.into())
    }
    pub(crate) fn int_or_null(&mut self, value: Option<i64>) -> &mut Self {
        self.add(value)
    }
    /// The 64 bits of an unsigned number; SQLite knows signed ones only.
    pub(crate) fn bits(&mut self, value: u64) -> &mut Self {
        self.add(value.cast_signed())
    }
    pub(crate) fn text(&mut self, value: impl Into<String>) -> &mut Self {
        self.add(value.into())
    }
    pub(crate) fn text_or_null(&mut self, value: Option<&str>) -> &mut Self {
        self.add(value.map(str::to_owned))
    }
    pub(crate) fn blob(&mut self, value: impl Into<Vec<u8>>) -> &mut Self {
        self.add(value.into())
    }
    pub(crate) fn blob_or_null(&mut self, value: Option<&[u8]>) -> &mut Self {
        self.add(value.map(<[u8]>::to_vec))
    }
    pub(crate) fn hash(&mut self, value: Hash) -> &mut Self {
        self.add(value.0.to_vec())
    }
    pub(crate) fn hash_or_null(&mut self, value: Option<Hash>) -> &mut Self {
        self.add(value.map(|hash| hash.0.to_vec()))
    }

    fn add<'q, T: sqlx::Encode<'q, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>>(&mut self, value: T) -> &mut Self {
        self.args.add(value).expect("numbers, texts and blobs can be bound");
        self
    }
}
