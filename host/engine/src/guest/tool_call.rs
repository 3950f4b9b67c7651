//! Context of a tool call.

use crate::guest::permissions::CallPermissions;
use crate::guest::sources::StepContext;

/// Complete context of a tool call.
#[derive(Clone, Debug, Default)]
pub struct ToolCallContext {
    /// The part of the context that steps can read too.
    pub step: StepContext,
    /// Trace id of this host.
    pub trace_id: String,
    /// Slot of the invocation.
    pub slot: String,
    /// Idempotency key for the downstream API. The key is the same in every try.
    pub external_key: String,
    /// Number of the job's attempt in which the worker makes the call.
    pub attempt: u32,
    /// Number of earlier tries of this invocation.
    pub tries_before: u32,
    /// Milliseconds that the call may take, counted from [`Self::started_boot_us`].
    pub timeout_ms: u32,
    /// Boot clock of the host ([`boot_us`](crate::os::Machine::boot_us)) at the start of the try, read before its
    /// barrier was first sent. Sending the barrier again does not change this time.
    pub started_boot_us: u64,
    /// Permissions of the operator's code. By default, it may only read.
    pub permissions: CallPermissions,
}
