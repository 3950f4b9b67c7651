//! End of one try of a step.

use latchwork_core::model::error::Failure;

/// End of one try of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepEnd {
    /// Outcome of the try.
    pub outcome: StepOutcome,
    /// Fuel that the try used. The instantiation is not included.
    pub fuel: u64,
    /// Linear memory at the end, in bytes. The memory at the end is also the maximum, because memory never shrinks.
    pub memory_bytes: u64,
    /// Function in which the host ended the guest, followed by its callers.
    pub functions: Vec<String>,
}

impl StepEnd {
    /// End of a step that was never started.
    pub(crate) fn not_run(failure: Failure) -> Self {
        Self { outcome: StepOutcome::Fault(failure), fuel: 0, memory_bytes: 0, functions: vec![] }
    }
}

/// Resources that a try used, and the functions on the guest's stack when the host ended it.
pub(crate) struct ResourceUsage {
    pub(crate) fuel: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) functions: Vec<String>,
}

/// Unchecked answer of a try as text, and the resources it used.
pub(crate) type RunResult = (Result<Result<String, Failure>, StepOutcome>, ResourceUsage);

/// Outcome of one try of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The step returned JSON text that fits its schema. The text is kept as received.
    Output(String),
    /// The step returned an error of its own, which is deterministic and final.
    Failed(Failure),
    /// The host ended the step, or its answer was invalid. `STACK_OVERFLOW` and `WALL_CLOCK_LIMIT` depend on
    /// the machine. All other codes are reproducible.
    Fault(Failure),
    /// [`StepCalls`](crate::guest::step_calls::StepCalls) returned [`Stop`](crate::guest::step_calls::Stop).
    Stopped,
}
