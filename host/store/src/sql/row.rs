//! Converts stored rows to Rust types. Errors name the table, column and row of inconsistent data.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Column, Row as _, TypeInfo, ValueRef};

use latchwork_core::encoding::truncate;
use latchwork_core::model::ids::Hash;
use latchwork_core::storage::StoreError;

/// A row of either database.
pub(crate) enum StoredRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Value of a column of `$row`, converted with the types of its database.
macro_rules! column {
    ($row:expr, $index:expr, $type:ty) => {
        match $row {
            StoredRow::Sqlite(row) => row.try_get::<Option<$type>, _>($index),
            StoredRow::Postgres(row) => row.try_get::<Option<$type>, _>($index),
        }
    };
}

impl StoredRow {
    fn int(&self, index: usize) -> Result<Option<i64>, sqlx::Error> {
        if let Self::Postgres(row) = self {
            // A computed value may be `BOOL` or `INT4`, but stored numbers are `INT8`. All three types become an `i64`.
            match row.column(index).type_info().name() {
                "BOOL" => return Ok(row.try_get::<Option<bool>, _>(index)?.map(i64::from)),
                "INT4" => return Ok(row.try_get::<Option<i32>, _>(index)?.map(i64::from)),
                _ => {}
            }
        }
        column!(self, index, i64)
    }

    /// Returns the names and types of the columns.
    fn columns(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Sqlite(row) => (0..row.len())
                .map(|index| {
                    let column = row.column(index);
                    let value = row.try_get_raw(index).map(|value| value.type_info().name().to_owned());
                    // The type is read from the value, because a column of SQLite may have no type.
                    let kind = match value.as_deref() {
                        Ok("TEXT") => "TEXT",
                        Ok("INTEGER") => "INTEGER",
                        _ => "",
                    };
                    (column.name(), kind)
                })
                .collect(),
            Self::Postgres(row) => {
                row.columns().iter().map(|column| (column.name(), column.type_info().name())).collect()
            }
        }
    }
}

/// Cursor over the columns of a row.
#[derive(Clone, Copy)]
pub(crate) struct RowReader<'a> {
    row: &'a StoredRow,
    table: &'static str,
    next: usize,
}

impl<'a> RowReader<'a> {
    /// Creates a cursor at the first column of `row`, which is a row of `table`.
    pub(crate) fn new(row: &'a StoredRow, table: &'static str) -> Self {
        Self { row, table, next: 0 }
    }

    /// Reads the next column as a number.
    pub(crate) fn int(&mut self) -> Result<i64, StoreError> {
        self.int_or_null()?.ok_or_else(|| self.damaged("it is NULL"))
    }
    pub(crate) fn int_or_null(&mut self) -> Result<Option<i64>, StoreError> {
        self.get(StoredRow::int)
    }
    pub(crate) fn u32(&mut self) -> Result<u32, StoreError> {
        let value = self.int()?;
        u32::try_from(value).map_err(|_| self.damaged(&format!("{value} is out of range")))
    }
    pub(crate) fn i16(&mut self) -> Result<i16, StoreError> {
        let value = self.int()?;
        i16::try_from(value).map_err(|_| self.damaged(&format!("{value} is out of range")))
    }
    pub(crate) fn u64(&mut self) -> Result<u64, StoreError> {
        let value = self.int()?;
        u64::try_from(value).map_err(|_| self.damaged(&format!("{value} is out of range")))
    }
    /// Reads 64 bits that are stored as a signed number.
    pub(crate) fn bits(&mut self) -> Result<u64, StoreError> {
        Ok(self.int()?.cast_unsigned())
    }
    pub(crate) fn bool(&mut self) -> Result<bool, StoreError> {
        match self.int()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(self.damaged(&format!("{value} is neither 0 nor 1"))),
        }
    }
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.text_or_null()?.ok_or_else(|| self.damaged("it is NULL"))
    }
    pub(crate) fn text_or_null(&mut self) -> Result<Option<String>, StoreError> {
        self.get(|row, index| column!(row, index, String))
    }
    pub(crate) fn blob(&mut self) -> Result<Vec<u8>, StoreError> {
        self.blob_or_null()?.ok_or_else(|| self.damaged("it is NULL"))
    }
    pub(crate) fn blob_or_null(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(|row, index| column!(row, index, Vec<u8>))
    }
    pub(crate) fn hash(&mut self) -> Result<Hash, StoreError> {
        self.hash_or_null()?.ok_or_else(|| self.damaged("it is NULL"))
    }
    pub(crate) fn hash_or_null(&mut self) -> Result<Option<Hash>, StoreError> {
        let Some(bytes) = self.blob_or_null()? else { return Ok(None) };
        let bytes = <[u8; 32]>::try_from(bytes)
            .map_err(|bytes| self.damaged(&format!("a hash has 32 bytes, not {}", bytes.len())))?;
        Ok(Some(Hash(bytes)))
    }

    /// Returns an error that names the last read column as damaged.
    pub(crate) fn damaged(&self, what: &str) -> StoreError {
        let columns = self.row.columns();
        let column = columns.get(self.next.saturating_sub(1)).map_or("?", |(name, _)| name);
        StoreError::Damaged(format!("table {}, column {column}, row ({}): {what}", self.table, self.label(&columns)))
    }

    fn get<T>(
        &mut self,
        read: impl FnOnce(&StoredRow, usize) -> Result<Option<T>, sqlx::Error>,
    ) -> Result<Option<T>, StoreError> {
        let index = self.next;
        self.next += 1;
        read(self.row, index).map_err(|error| match error {
            sqlx::Error::ColumnDecode { source, .. } => self.damaged(&source.to_string()),
            other => self.damaged(&other.to_string()),
        })
    }

    /// Returns a description of the row for errors: the texts and numbers among the first three columns of the row.
    /// These columns include the key. Long texts are cut.
    fn label(&self, columns: &[(&str, &str)]) -> String {
        let mut parts = Vec::new();
        for (index, (name, kind)) in columns.iter().enumerate().take(3) {
            let text: String = match *kind {
                "TEXT" => {
                    let text = column!(self.row, index, String).ok().flatten().unwrap_or_default();
                    truncate::at_characters(&text, 64).start.to_owned()
                }
                "INTEGER" | "INT8" => self.row.int(index).ok().flatten().unwrap_or_default().to_string(),
                _ => continue,
            };
            parts.push(format!("{name} {text}"));
        }
        parts.join(", ")
    }
}
