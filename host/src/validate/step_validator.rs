//! Interface of a validator.

use async_trait::async_trait;

use latchwork_core::model::ids::{Hash, JobId, Operator, StepId};
use latchwork_core::model::manifest::{Determinism, Limits, PluginKind};
use latchwork_engine::Plugin;
use latchwork_engine::guest::sources::StepContext;

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
    /// Digest of the plugin: SHA-256 of the component, or digest of the native tool.
    pub digest: Hash,
    /// Resolved input, as canonical JSON.
    pub input: &'a [u8],
    /// The component, or `None` for a native tool.
    pub(crate) component: Option<&'a Plugin>,
    pub(crate) limits: Limits,
    pub(crate) context: StepContext,
    pub(crate) conditions: SandboxConditions,
}

impl ValidationRequest<'_> {
    /// Returns the imports of the component, as the component names them. A native tool has none.
    pub fn imports(&self) -> &[String] {
        self.component.map_or(&[], |component| &component.imports)
    }

    /// Returns the clock and the seed of random numbers that the step will get.
    pub fn conditions(&self) -> SandboxConditions {
        self.conditions
    }
}

/// Clock and random seed of a step, equal in every try of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SandboxConditions {
    /// Time of the clock, in microseconds since 1970 UTC.
    pub now_us: i64,
    /// Seed of the random numbers.
    pub seed: [u8; 32],
}
