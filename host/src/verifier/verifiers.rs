//! The verifiers of a host by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use latchwork_core::model::effect::StateChange;
use latchwork_core::model::error::Failure;
use latchwork_engine::capability::hide_secrets;
use latchwork_engine::os::Machine;
use latchwork_engine::{Plugin, VerifyResult};

use super::etag::Etag;
use super::file_digest::FileDigest;
use super::resource_verifier::{ResourceVerifier, VerificationRequest, unavailable};
use crate::config::{HeaderTemplate, PluginConfig};

/// The verifiers of a host, and the headers that each plugin gives its verifier.
#[derive(Clone, Default)]
pub struct Verifiers {
    by_name: BTreeMap<&'static str, Arc<dyn ResourceVerifier>>,
    headers: BTreeMap<String, Vec<HeaderTemplate>>,
}

impl fmt::Debug for Verifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_name.keys()).finish()
    }
}

impl Verifiers {
    /// Returns the verifiers that come with the host.
    pub fn builtin() -> Verifiers {
        let mut verifiers = Verifiers::default();
        verifiers.add(Arc::new(Etag));
        verifiers.add(Arc::new(FileDigest));
        verifiers
    }

    /// Adds a verifier, or replaces the verifier with the same name.
    pub fn add(&mut self, verifier: Arc<dyn ResourceVerifier>) {
        self.by_name.insert(verifier.name(), verifier);
    }

    /// Returns the verifier with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn ResourceVerifier>> {
        self.by_name.get(name)
    }

    /// Stores the headers that the configured plugins give their verifiers.
    pub(crate) fn configure(&mut self, plugins: &[PluginConfig]) {
        for plugin in plugins {
            if let Some(verifier) = &plugin.verifier {
                self.headers.insert(plugin.name.clone(), verifier.headers.clone());
            }
        }
    }

    /// Verifies a change of a plugin. Secrets of the plugin in the texts of the verifier are hidden, because the texts
    /// are recorded and may repeat what a server answered.
    pub(crate) async fn verify(
        &self,
        name: &str,
        operator: &str,
        change: &StateChange,
        plugin: &Plugin,
        timeout_ms: u32,
        machine: &Machine,
    ) -> Result<VerifyResult, Failure> {
        let Some(verifier) = self.get(name) else {
            return Err(unavailable(format!("this host has no verifier {name:?}")));
        };
        let headers = self.headers.get(&plugin.name).map(Vec::as_slice).unwrap_or_default();
        let Some(dirs) = plugin.open_dirs() else {
            return Err(unavailable(format!("{:?} is no tool", plugin.name)));
        };
        let settings = plugin.settings();
        let looking = VerificationRequest { operator, change, plugin: settings, dirs, headers, timeout_ms, machine };
        let within = std::time::Duration::from_millis(u64::from(timeout_ms));
        let hidden = |text: &str| hide_secrets(settings, machine, text);
        match tokio::time::timeout(within, verifier.verify(&looking)).await {
            Ok(Ok(VerifyResult::Mismatch(found))) => Ok(VerifyResult::Mismatch(hidden(&found))),
            Ok(Err(failure)) => Err(Failure { message: hidden(&failure.message), ..failure }),
            Ok(confirmed) => confirmed,
            Err(_) => Err(unavailable(format!("the verifier {name:?} did not end within {timeout_ms} ms"))),
        }
    }
}
