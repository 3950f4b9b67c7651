//! Row of an action key.

use serde::{Deserialize, Serialize};

use crate::model::ids::{Hash, JobId, Slot};

/// A stored reservation of an action key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRow {
    /// Job that holds the key.
    pub job_id: JobId,
    /// Slot that holds the key.
    pub slot: Slot,
    /// Unsalted hash of the canonical arguments.
    pub args_hash: Hash,
    /// Result and receipt of the call. `None` until the call is committed.
    pub receipt: Option<Vec<u8>>,
}
