//! Columns that several files read, and the conversion of their rows to types of the kernel.

use latchwork_core::model::ids::{JobId, Operator, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::{LedgerRow, RowState};
use latchwork_core::storage::{ActionRow, InboxRow, JobRow, Owner, StoreError, StoredRequest};

use crate::sql::row::RowReader;

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
        let stored = serde_json::from_str(&request).map_err(|error| row.damaged(&error.to_string()))?;
        let StoredRequest { request, verified } = stored;
        Ok(Self { id, actor, reason, request, verified })
    }
}

impl RowReader<'_> {
    pub(crate) fn job_state(&mut self) -> Result<JobState, StoreError> {
        let number = self.int()?;
        let state = JobState::ALL.into_iter().find(|state| state_number(*state) == number);
        state.ok_or_else(|| self.damaged(&format!("{number} is not the number of a state")))
    }
    fn row_state(&mut self) -> Result<RowState, StoreError> {
        let number = self.int()?;
        RowState::from_number(number).ok_or_else(|| self.damaged(&format!("{number} is not the number of a state")))
    }
}
