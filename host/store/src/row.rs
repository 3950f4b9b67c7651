//! Converts stored rows to Rust types. Errors name the table, column and row of inconsistent data.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Column, Row as _, TypeInfo, ValueRef};

use latchwork_core::model::ids::{Hash, JobId, Operator, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::{LedgerRow, RowState};
use latchwork_core::storage::{ActionRow, InboxRow, JobRow, Owner, StoreError};

/// Columns of a [`JobRow`], in order.
pub(crate) const JOB_COLUMNS: &str = "j.job_id, j.tenant_id, j.actor_id, j.request_key, j.plan_id, j.plan_hash, \
    j.mode, j.state, j.attempt, j.next_seq, j.head, j.inbox_pending, j.cancel_requested, j.wake_at_us, j.priority, \
    j.created_us, j.updated_us";

/// Columns of a [`LedgerRow`], in order.
pub(crate) const LEDGER_COLUMNS: &str = "l.slot, l.operator, l.args_hash, l.state, l.attempt, l.nonce, l.try, \
    l.first_attempt, l.first_started_us, l.world_changing, l.timeout_ms, l.deadline_us, l.next_try_us, \
    l.result_hash, l.action_key";

/// Columns of an [`Owner`], in order.
pub(crate) const OWNER_COLUMNS: &str = "o.worker, o.boot_id, o.lock_path, o.lock_dev, o.lock_ino, o.lock_content";

/// Columns of an [`ActionRow`], in order.
pub(crate) const ACTION_COLUMNS: &str = "j.job_id, a.slot, a.args_hash, a.receipt";

/// Columns of an [`InboxRow`], in order.
pub(crate) const INBOX_COLUMNS: &str = "i.id, i.actor, i.reason, i.request";

/// Returns the stored number of a state. Never change a number.
pub(crate) fn state_number(state: JobState) -> i64 {
    match state {
        JobState::Pending => 1,
        JobState::Running => 2,
        JobState::Waiting => 3,
        JobState::Parked => 4,
        JobState::Diverged => 5,
        JobState::Completed => 6,
        JobState::Partial => 7,
        JobState::Failed => 8,
        JobState::Cancelled => 9,
    }
}

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
            // A computed value may have a narrower type than a stored one.
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
                    // In SQLite a value always has a type, but its column may have none.
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
    fn i16(&mut self) -> Result<i16, StoreError> {
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
    pub(crate) fn job_state(&mut self) -> Result<JobState, StoreError> {
        let number = self.int()?;
        let state = JobState::ALL.into_iter().find(|state| state_number(*state) == number);
        state.ok_or_else(|| self.damaged(&format!("{number} is not the number of a state")))
    }
    fn row_state(&mut self) -> Result<RowState, StoreError> {
        let number = self.int()?;
        RowState::from_number(number).ok_or_else(|| self.damaged(&format!("{number} is not the number of a state")))
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
                    column!(self.row, index, String).ok().flatten().unwrap_or_default().chars().take(64).collect()
                }
                "INTEGER" | "INT8" => self.row.int(index).ok().flatten().unwrap_or_default().to_string(),
                _ => continue,
            };
            parts.push(format!("{name} {text}"));
        }
        parts.join(", ")
    }
}

/// Reads the columns of [`JOB_COLUMNS`], starting at the next column.
pub(crate) fn job(row: &mut RowReader<'_>) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        job_id: row.text()?.into(),
        tenant_id: row.text()?,
        actor_id: row.text()?,
        request_key: row.hash()?,
        plan_id: row.text()?,
        plan_hash: row.hash()?,
        mode: row.text()?,
        state: row.job_state()?,
        attempt: row.u32()?,
        next_seq: row.u64()?,
        head: row.hash()?,
        inbox_pending: row.bool()?,
        cancel_requested: row.bool()?,
        wake_at_us: row.int_or_null()?,
        priority: row.i16()?,
        created_us: row.int()?,
        updated_us: row.int()?,
    })
}

impl TryFrom<RowReader<'_>> for JobRow {
    type Error = StoreError;
    fn try_from(mut row: RowReader<'_>) -> Result<Self, StoreError> {
        job(&mut row)
    }
}

impl TryFrom<RowReader<'_>> for LedgerRow {
    type Error = StoreError;
    fn try_from(mut row: RowReader<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            slot: Slot::from(row.text()?),
            operator: Operator::from(row.text()?),
            args_hash: row.hash()?,
            state: row.row_state()?,
            attempt: row.u32()?,
            nonce: row.bits()?,
            try_no: row.u32()?,
            first_attempt: row.u32()?,
            first_started_us: row.int()?,
            world_changing: row.bool()?,
            timeout_ms: row.u32()?,
            deadline_us: row.int()?,
            next_try_us: row.int_or_null()?,
            result_hash: row.hash_or_null()?,
            action_key: row.hash_or_null()?,
        })
    }
}

/// Reads the columns of [`OWNER_COLUMNS`], starting at the next column.
pub(crate) fn owner(row: &mut RowReader<'_>) -> Result<Owner, StoreError> {
    Ok(Owner {
        worker: row.text()?,
        boot_id: row.text()?,
        lock_path: row.text()?,
        lock_dev: row.bits()?,
        lock_ino: row.bits()?,
        lock_content: row.text()?,
    })
}

impl TryFrom<RowReader<'_>> for Owner {
    type Error = StoreError;
    fn try_from(mut row: RowReader<'_>) -> Result<Self, StoreError> {
        owner(&mut row)
    }
}

impl TryFrom<RowReader<'_>> for ActionRow {
    type Error = StoreError;
    fn try_from(mut row: RowReader<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            job_id: JobId::from(row.text()?),
            slot: Slot::from(row.text()?),
            args_hash: row.hash()?,
            receipt: row.blob_or_null()?,
        })
    }
}

impl TryFrom<RowReader<'_>> for InboxRow {
    type Error = StoreError;
    fn try_from(mut row: RowReader<'_>) -> Result<Self, StoreError> {
        let (id, actor, reason, request) = (row.int()?, row.text()?, row.text_or_null()?, row.text()?);
        let request = serde_json::from_str(&request).map_err(|error| row.damaged(&error.to_string()))?;
        Ok(Self { id, actor, reason, request })
    }
}
