//! `static`: checks before each step that the component imports only interfaces of its world. The check is
//! independent of the checks at load time.

use async_trait::async_trait;

use latchwork_engine::Plugin;

use super::{StepValidator, ValidationRequest};

/// Validator that checks the imports of the component.
#[derive(Clone, Copy, Debug, Default)]
pub struct Static;

#[async_trait]
impl StepValidator for Static {
    fn name(&self) -> &'static str {
        "static"
    }

    async fn validate_step(&self, request: &ValidationRequest<'_>) -> Result<(), String> {
        let foreign = request.component.map(Plugin::refused_imports).unwrap_or_default();
        if foreign.is_empty() {
            return Ok(());
        }
        let each: Vec<String> = foreign.iter().map(|(import, instead)| format!("{import}: {instead}")).collect();
        Err(format!("it imports what its world does not have: {}", each.join("; ")))
    }
}
