//! The trace context: the job that an operator runs for, and the actor that requested it.

use std::cell::OnceCell;

use crate::bindings::context::StepContext;
use crate::host;

/// The trace context of the running operator. The values are the same in every attempt of a job.
///
/// The context is read from the host on first use, so a handler that ignores the context makes no host call.
#[derive(Debug, Default)]
pub struct Context {
    asked: OnceCell<StepContext>,
}

impl Context {
    fn get(&self) -> &StepContext {
        self.asked.get_or_init(host::context)
    }
    /// Tenant that owns the job.
    pub fn tenant(&self) -> &str {
        &self.get().tenant
    }
    /// Actor that submitted the job.
    pub fn actor(&self) -> &str {
        &self.get().actor
    }
    /// Correlation id of the job. A fork has the same id as its origin.
    pub fn correlation_id(&self) -> &str {
        &self.get().correlation_id
    }
    /// Id of the job.
    pub fn job_id(&self) -> &str {
        &self.get().job_id
    }
    /// Label of the plan.
    pub fn plan_id(&self) -> &str {
        &self.get().plan_id
    }
    /// Id of the step within the plan.
    pub fn step_id(&self) -> &str {
        &self.get().step_id
    }
}
