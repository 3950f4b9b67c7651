//! Validators: what is asked of a step before it starts. An error is `CONTRACT_VIOLATION`, and the step
//! is not executed.
//!
//! `[validators] run = ["static", "sandbox"]` names those that come with the host; an embedding program
//! adds its own with [`crate::host::Extensions`].

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use latchwork_core::ids::{Hash, JobId, Operator, StepId};
use latchwork_core::manifest::{Determinism, Limits, PluginKind};

use crate::engine::{Plugin, StepContext};

mod imports;
mod sandbox;

pub use imports::Static;
pub use sandbox::{Asked, Conditions, Ended, Sandbox, SandboxRun};

/// What is about to start.
pub struct ValidationRequest<'a> {
    /// The job.
    pub job_id: &'a JobId,
    /// The step.
    pub step_id: &'a StepId,
    /// Its operator.
    pub operator: &'a Operator,
    /// Whether it is deterministic code or a tool.
    pub kind: PluginKind,
    /// How repeatable the operator says it is.
    pub determinism: Determinism,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// Its resolved input: canonical JSON.
    pub input: &'a [u8],
    pub(crate) plugin: &'a Plugin,
    pub(crate) limits: Limits,
    pub(crate) context: StepContext,
    pub(crate) conditions: Conditions,
}

impl ValidationRequest<'_> {
    /// What the component imports, as it names it.
    pub fn imports(&self) -> &[String] {
        &self.plugin.imports
    }

    /// What the step will find: its clock and its random numbers.
    pub fn conditions(&self) -> Conditions {
        self.conditions
    }

    /// Runs the step in a fresh instance under these conditions, until it ends or makes a call that has
    /// no recorded answer, which before its start is any. No tool is ever called. None for a tool.
    pub async fn run_in_sandbox(&self, conditions: Conditions) -> Option<SandboxRun> {
        sandbox::run(self, conditions).await
    }
}

/// Decides whether a step may start.
///
/// ```
/// use latchwork::validate::{StepValidator, ValidationRequest};
///
/// /// Nothing of more than a kilobyte.
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
    /// What it is called in messages.
    fn name(&self) -> &'static str;

    /// Looks at the step.
    ///
    /// # Errors
    /// It must not start; a sentence that says why.
    async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String>;
}

/// Finds nothing wrong.
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

/// Names of the validators that come with the host, as `latch.toml` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shipped {
    /// [`NoOp`]
    NoOp,
    /// [`Static`]
    Static,
    /// [`Sandbox`]
    Sandbox,
}

impl Shipped {
    /// The words of `latch.toml`.
    pub const WORDS: [(&'static str, Shipped); 3] =
        [("no-op", Shipped::NoOp), ("static", Shipped::Static), ("sandbox", Shipped::Sandbox)];

    /// The validator.
    pub fn validator(self) -> Arc<dyn StepValidator> {
        match self {
            Shipped::NoOp => Arc::new(NoOp),
            Shipped::Static => Arc::new(Static),
            Shipped::Sandbox => Arc::new(Sandbox),
        }
    }
}

/// Validators in the order in which they are asked.
#[derive(Clone, Default)]
pub struct Validators(pub Vec<Arc<dyn StepValidator>>);

impl fmt::Debug for Validators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|validator| validator.name())).finish()
    }
}

impl Validators {
    /// Whether there is nobody to ask.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Asks one after the other.
    ///
    /// # Errors
    /// What the first that refuses says, with its name.
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
