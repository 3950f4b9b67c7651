//! State of a job: the fold of its events, and its stored ledger rows, effects and payloads.

mod calls;
mod compensation;
mod confirm;
mod durable;
mod effects;
mod error;
mod fold;
mod forked;
mod gate;
mod gates;
mod lifecycle;
pub mod pending;
mod prefetched;
mod reopen;
mod steps;
mod transitions;
mod types;
mod verify;
mod waits;

pub use crate::state::prefetched::{Prefetched, ReuseCandidate};
pub(crate) use confirm::consequence_of;
pub use durable::Durable;
pub use error::FoldError;
pub use gate::{Approval, Gate, gate_statement};
pub use types::{
    Call, Compensation, CompensationEnd, ConfirmationState, EarlySignal, EmittedEvent, ForkOrigin, Job, Outcome,
    RecordedAnswer, RecordedChange, Step, UnconfirmedChange, WaitState,
};

/// Labels of payloads, unique within a job.
pub mod label {
    use crate::model::ids::{Slot, StepId};

    /// Label of a step's resolved input.
    pub fn input(step: &StepId) -> String {
        format!("input/{step}")
    }
    /// Label of a step plugin's output.
    pub fn output(step: &StepId) -> String {
        format!("output/{step}")
    }
    /// Label of the canonical arguments of a call.
    pub fn args(slot: &Slot) -> String {
        format!("args/{slot}")
    }
    /// Label of the recorded effect of a try.
    pub fn answer(slot: &Slot, try_no: u32) -> String {
        format!("answer/{slot}/{try_no}")
    }
    /// Label of the payload of an emitted event.
    pub fn emitted(step: &StepId, n: u32) -> String {
        format!("event/{step}/{n}")
    }
    /// Label of the contexts of the request, a JSON array.
    pub const CONTEXTS: &str = "contexts";
    /// Label of the values of the plan's parameters, a JSON object.
    pub const PARAMETERS: &str = "parameters";
    /// Label of the payload of an early signal.
    pub fn signal(n: u32) -> String {
        format!("signal/{n}")
    }
    /// Label of the kept part of an answer that could not be used.
    pub fn unusable_answer(slot: &Slot, try_no: u32) -> String {
        format!("kept/{slot}/{try_no}")
    }
}
