//! What a tool may know about its call.

use std::cell::OnceCell;
use std::ops::Deref;
use std::time::Duration;

use crate::bindings::invocation::InvocationContext;
use crate::host;

/// The trace context of the running call, with what a step may not see.
#[derive(Debug, Default)]
pub struct Context {
    job: crate::context::Context,
    asked: OnceCell<InvocationContext>,
}

impl Context {
    fn get(&self) -> &InvocationContext {
        self.asked.get_or_init(host::invocation)
    }
    /// The id under which this call appears in traces.
    pub fn trace_id(&self) -> &str {
        &self.get().trace_id
    }
    /// Where the call stands: `s6`, `s3/0`, `s6~c`.
    pub fn slot(&self) -> &str {
        &self.get().slot
    }
    /// Send it to the downstream API as its idempotency key. It never changes for this call,
    /// whoever executes or repeats it.
    pub fn external_key(&self) -> &str {
        &self.get().external_key
    }
    /// The worker's attempt at the job: metadata, never part of a key.
    pub fn attempt(&self) -> u32 {
        self.get().attempt
    }
    /// How many tries of this call came before this one.
    pub fn tries_before(&self) -> u32 {
        self.get().tries_before
    }
    /// How long after its start the host stops this call.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.get().timeout_ms))
    }
}

/// Tenant, actor, correlation, job, plan and step.
impl Deref for Context {
    type Target = crate::context::Context;
    fn deref(&self) -> &Self::Target {
        &self.job
    }
}
