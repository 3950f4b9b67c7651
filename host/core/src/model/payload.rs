//! Reference to a payload by its salted hash.

use serde::{Deserialize, Serialize};

use crate::model::ids::Hash;

/// Reference to a payload outside the event: its salted hash and its length. The salt derives from the job's secret
/// and the payload's label. The salt prevents a withheld payload from being guessed from its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadRef {
    /// Salted hash: `SHA-256(SHA-256(secret ‖ 0 ‖ label) ‖ bytes)`.
    pub hash: Hash,
    /// Length in bytes.
    pub len: u32,
}
