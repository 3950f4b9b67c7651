//! Calls: performs one invocation, from the ledger's decision to the recorded answer.

mod context;
mod doubt;
mod execute;
mod host_calls;
mod invocation;
mod late_answers;
mod perform;
mod pinned;
mod record;
mod spending;
mod stopped;
mod undone;

pub(crate) use host_calls::{StepHostCalls, TryProgress};
pub(crate) use stopped::CallStopped;
