//! Validators: checks that run before a step starts. An error becomes `CONTRACT_VIOLATION`, and the step is
//! not executed.
//!
//! `[validators] run = ["static", "sandbox"]` selects validators that come with the host. An embedding
//! program adds its own with `HostBuilder::validator`.

mod imports;
mod sandbox;
mod step_validator;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::config::validator::BuiltinValidator;

pub use imports::Static;
pub use sandbox::{Sandbox, SandboxEnd, SandboxHostCall, SandboxRun};
pub use step_validator::{SandboxConditions, StepValidator, ValidationRequest};

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
