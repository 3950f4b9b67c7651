//! Parts of a batch: payloads, and changes of ledger rows and action keys.

use crate::model::ids::{Hash, Operator, Slot};
use crate::rules::ledger::{LedgerRow, RowState};

/// A payload stored under a label, such as `input/<step>` or `args/<slot>`. [`crate::state::label`] lists the labels.
///
/// A payload is written once. Equal bytes are accepted again, and different bytes are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Label, unique within the job.
    pub label: String,
    /// Bytes of the payload, exactly as they were hashed.
    pub bytes: Vec<u8>,
}

/// A change of one ledger row.
///
/// The store computes `deadline_us` of the row. If a batch of the kind
/// [`StartCalls`](crate::storage::BatchKind::StartCalls) leaves the row `INFLIGHT`, the deadline becomes the current
/// lease clock time plus `timeout_ms`. Every other update keeps the stored deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerWrite {
    /// Inserts a row. The batch is refused if the slot already has a row.
    Insert(LedgerRow),
    /// Replaces a row. The batch is refused if the stored row differs from any of the three expected values.
    Update {
        /// Expected state of the stored row.
        expect: RowState,
        /// Expected try number of the stored row.
        expect_try: u32,
        /// Expected nonce of the stored row.
        expect_nonce: u64,
        /// The new row.
        row: LedgerRow,
    },
}

impl LedgerWrite {
    /// Returns the row as it is after the write.
    pub fn row(&self) -> &LedgerRow {
        match self {
            LedgerWrite::Insert(row) | LedgerWrite::Update { row, .. } => row,
        }
    }
}

/// A change of the reservation of an action key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionWrite {
    /// Reserves `(tenant, operator, key)` for this job and slot. The batch is refused if another slot holds the key, if
    /// the key is settled with a receipt, or if the key was reserved with other arguments. The slot that holds the key
    /// may reserve it again.
    Reserve {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
        /// Unsalted hash of the canonical arguments. A reservation of the same key with different arguments
        /// fails with `INVALID_INPUT`.
        args_hash: Hash,
        /// Slot that reserves the key.
        slot: Slot,
    },
    /// Settles the reservation because its call is finished. In the same transaction, every job that waits for
    /// the key gets [`InboxRequest::KeySettled`](crate::storage::InboxRequest::KeySettled) in its inbox.
    Settle {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
        /// Slot that holds the key.
        slot: Slot,
        /// Receipt or result of the committed call. `None` releases the key.
        receipt: Option<Vec<u8>>,
    },
    /// Withdraws the receipt of this slot's settled call, because the call is being undone or its effect no longer
    /// matches the record. No job can get the receipt until the key is settled again. Does nothing if this slot holds
    /// no receipt.
    WithdrawReceipt {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
        /// Slot that holds the key.
        slot: Slot,
    },
    /// Registers this job to wait until the reservation is settled. If the key is already free or settled, the batch is
    /// refused with [`WriteError::ActionKeyFree`](crate::storage::WriteError::ActionKeyFree). The caller must then read
    /// the key again.
    Wait {
        /// Operator of the reserved call.
        operator: Operator,
        /// The action key.
        key: Hash,
    },
}
