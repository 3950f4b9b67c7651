//! The context of a tool call.

use std::cell::OnceCell;
use std::ops::Deref;
use std::time::Duration;

use crate::bindings::invocation::InvocationContext;
use crate::host;

/// The trace context of the running call. Dereferences to the context of the job: tenant, actor, correlation, job, plan
/// and step. A step gets only this context of the job, because the other values of a call differ between attempts.
#[derive(Debug, Default)]
pub struct Context {
    job: crate::context::Context,
    asked: OnceCell<InvocationContext>,
}

impl Context {
    fn get(&self) -> &InvocationContext {
        self.asked.get_or_init(host::invocation)
    }
    /// Trace id of the job. It is the same in all its calls and in every try, so it identifies no call.
    pub fn trace_id(&self) -> &str {
        &self.get().trace_id
    }
    /// Slot of the call within its job: `s6`, `s3/0`, `s6~c`.
    pub fn slot(&self) -> &str {
        &self.get().slot
    }
    /// Idempotency key of the call for the downstream API. The key is the same in every try of this call, on
    /// every worker.
    pub fn external_key(&self) -> &str {
        &self.get().external_key
    }
    /// Number of the attempt at the job, from 1. Must not become part of a key, because it changes after a
    /// crash.
    pub fn attempt(&self) -> u32 {
        self.get().attempt
    }
    /// Number of recorded earlier tries of this call, also of tries that certainly changed nothing. The number does not
    /// state whether an earlier try changed anything.
    pub fn tries_before(&self) -> u32 {
        self.get().tries_before
    }
    /// Time from the start of this call until the host stops it. Sleeping counts.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.get().timeout_ms))
    }
}

/// Gives access to tenant, actor, correlation, job, plan and step.
impl Deref for Context {
    type Target = crate::context::Context;
    fn deref(&self) -> &Self::Target {
        &self.job
    }
}
