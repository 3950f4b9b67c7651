//! Validators: checks that run before a step starts. An error becomes `CONTRACT_VIOLATION`, and the step is
//! not executed.
//!
//! `[validators] run = ["static", "sandbox"]` selects validators that come with the host. An embedding
//! program adds its own with [`crate::host::Extensions`].

mod imports;
mod sandbox;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use latchwork_core::model::ids::{Hash, JobId, Operator, StepId};
use latchwork_core::model::manifest::{Determinism, Limits, PluginKind};

use crate::config::validator::BuiltinValidator;
use crate::engine::Plugin;
use crate::guest::sources::StepContext;

pub use imports::Static;
pub use sandbox::{Sandbox, SandboxConditions, SandboxEnd, SandboxHostCall, SandboxRun};

/// The step that is about to start.
pub struct ValidationRequest<'a> {
    /// Id of the job.
    pub job_id: &'a JobId,
    /// Id of the step.
    pub step_id: &'a StepId,
    /// Operator of the step.
    pub operator: &'a Operator,
    /// Kind of the plugin: a step plugin with deterministic code, or a tool.
    pub kind: PluginKind,
    /// Determinism that the operator declares.
    pub determinism: Determinism,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// Resolved input, as canonical JSON.
    pub input: &'a [u8],
    pub(crate) plugin: &'a Plugin,
    pub(crate) limits: Limits,
    pub(crate) context: StepContext,
    pub(crate) conditions: SandboxConditions,
}

impl ValidationRequest<'_> {
    /// Returns the imports of the component, as the component names them.
    pub fn imports(&self) -> &[String] {
        &self.plugin.imports
    }

    /// Returns the clock and the seed of random numbers that the step will get.
    pub fn conditions(&self) -> SandboxConditions {
        self.conditions
    }

    /// Runs the step in a fresh instance under these conditions, until the step ends or makes a tool call. Before the
    /// start of a step no call has a recorded answer. Any call therefore ends the run, and no tool is called. Returns
    /// `None` if the plugin is a tool.
    pub async fn run_in_sandbox(&self, conditions: SandboxConditions) -> Option<SandboxRun> {
        sandbox::run(self, conditions).await
    }
}

/// Decides whether a step may start.
///
/// ```
/// use latchwork::validate::{StepValidator, ValidationRequest};
///
/// /// Refuses an input of more than a kilobyte.
/// struct Short;
///
/// #[async_trait::async_trait]
/// impl StepValidator for Short {
///     fn name(&self) -> &'static str {
///         "short"
///     }
///     async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String> {
///         match request.input.len() {
///             0..=1024 => Ok(()),
///             more => Err(format!("its input has {more} bytes, and 1024 are allowed")),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait StepValidator: Send + Sync {
    /// Name of the validator in messages.
    fn name(&self) -> &'static str;

    /// Checks the step.
    ///
    /// # Errors
    /// The step must not start. The error is a sentence with the reason.
    async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String>;
}

/// Validator that accepts every step.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOp;

#[async_trait]
impl StepValidator for NoOp {
    fn name(&self) -> &'static str {
        "no-op"
    }
    async fn validate_step(&self, _: &ValidationRequest<'_>) -> Result<(), String> {
        Ok(())
    }
}

/// Creates a validator that comes with the host.
pub fn create(validator: BuiltinValidator) -> Arc<dyn StepValidator> {
    match validator {
        BuiltinValidator::NoOp => Arc::new(NoOp),
        BuiltinValidator::Static => Arc::new(Static),
        BuiltinValidator::Sandbox => Arc::new(Sandbox),
    }
}

/// Validators in the order in which they run.
#[derive(Clone, Default)]
pub struct Validators(pub Vec<Arc<dyn StepValidator>>);

impl fmt::Debug for Validators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|validator| validator.name())).finish()
    }
}

impl Validators {
    /// Returns true if there are no validators.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs the validators one after the other.
    ///
    /// # Errors
    /// The error of the first validator that refuses the step, with the validator's name.
    pub async fn validate(&self, request: &ValidationRequest<'_>) -> Result<(), String> {
        for validator in &self.0 {
            let name = validator.name();
            validator
                .validate_step(request)
                .await
                .map_err(|why| format!("the validator {name:?} refuses it: {why}"))?;
        }
        Ok(())
    }
}
