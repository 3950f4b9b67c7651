//! `static`: what the component imports, held against its world once more before each step, whatever
//! let the component in.

use async_trait::async_trait;

use super::{StepValidator, ValidationRequest};

/// The validator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Static;

#[async_trait]
impl StepValidator for Static {
    fn name(&self) -> &'static str {
        "static"
    }

    async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String> {
        let foreign = request.plugin.foreign_imports();
        if foreign.is_empty() {
            return Ok(());
        }
        let each: Vec<String> = foreign.iter().map(|(import, instead)| format!("{import}: {instead}")).collect();
        Err(format!("it imports what its world does not have: {}", each.join("; ")))
    }
}
