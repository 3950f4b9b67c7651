//! Who asks, and for which job.

use std::cell::OnceCell;

use crate::bindings::context::StepContext;
use crate::host;

/// The trace context of the running operator. Nothing in it differs between attempts at a job.
///
/// Asked of the host when first looked at, so a handler that ignores it costs nothing.
#[derive(Debug, Default)]
pub struct Context {
    asked: OnceCell<StepContext>,
}

impl Context {
    fn get(&self) -> &StepContext {
        self.asked.get_or_init(host::context)
    }
    /// The tenant the job belongs to.
    pub fn tenant(&self) -> &str {
        &self.get().tenant
    }
    /// Who asked for the job.
    pub fn actor(&self) -> &str {
        &self.get().actor
    }
    /// What ties this job to others of one request.
    pub fn correlation_id(&self) -> &str {
        &self.get().correlation_id
    }
    /// The job.
    pub fn job_id(&self) -> &str {
        &self.get().job_id
    }
    /// The plan's label.
    pub fn plan_id(&self) -> &str {
        &self.get().plan_id
    }
    /// The step of the plan.
    pub fn step_id(&self) -> &str {
        &self.get().step_id
    }
}
