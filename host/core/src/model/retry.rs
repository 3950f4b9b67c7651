//! Retry settings of a plan or a plugin, and the bounds of the backoff.

use serde::{Deserialize, Serialize};

/// Retry settings of a step. The settings never make a final error code retryable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetrySpec {
    /// Maximum number of retries after the first try, for every retryable error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Base of the backoff: maximum length of the first backoff, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_ms: Option<u32>,
    /// Longest backoff in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_ms: Option<u32>,
}

/// Default base of the backoff in milliseconds.
pub const BASE_MS: u32 = 1_000;

/// Default maximum backoff in milliseconds.
pub const CAP_MS: u32 = 120_000;
