//! `latchwork:plugin/secrets`: by default, guests get placeholders instead of secret values.

use crate::capability::grant;
use wasmtime::component::HasData;

use crate::capability::grants::Grants;
use crate::capability::host_call_gate::HostCallGate;
use crate::capability::placeholder::Placeholders;
use crate::capability::secret_values::Secrets;
use crate::guest::bindings::import::secrets;
use crate::guest::bindings::import::secrets::SecretError;
use crate::guest::permissions::CallPermissions;

/// The parts of a tool's state that its secrets need.
pub(crate) struct SecretsView<'a> {
    pub(crate) gate: HostCallGate<'a>,
    pub(crate) plugin: &'a str,
    pub(crate) grants: &'a Grants,
    pub(crate) permissions: CallPermissions,
    pub(crate) secrets: &'a dyn Secrets,
    pub(crate) placeholders: &'a Placeholders,
}

/// Type of [`SecretsView`] for the linker.
pub(crate) struct SecretsViewData;

impl HasData for SecretsViewData {
    type Data<'a> = SecretsView<'a>;
}

impl secrets::Host for SecretsView<'_> {
    fn get(&mut self, name: String) -> wasmtime::Result<Result<String, SecretError>> {
        self.gate.pass()?;
        if let Err(denied) = grant::check_secret(self.grants, self.permissions, &name) {
            denied.record(self.gate.window, self.plugin);
            return Ok(Err(SecretError::NotGranted));
        }
        let Some(value) = self.secrets.value(&name) else {
            tracing::warn!(
                plugin = self.plugin,
                "secret {name:?} has no value; set LATCH_SECRET_{name} or write it to secrets/{name} \
                 in the state directory"
            );
            return Ok(Err(SecretError::Missing));
        };
        if self.grants.secrets_clear {
            return Ok(Ok(value));
        }
        Ok(Ok(self.placeholders.hand_out(&name, value)))
    }
}
