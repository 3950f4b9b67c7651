//! Verifiers of the host. If a `[[plugin]]` names a verifier, such as `verifier = "etag"`, that verifier
//! checks the recorded changes of the plugin. The plugin's own `verify` is then not used.
//!
//! A verifier only reads and changes nothing. It uses the grants and secrets of the plugin and has no further
//! rights.

mod etag;
mod file_digest;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use latchwork_core::model::effect::StateChange;
use latchwork_core::model::error::{Code, Failure};

use crate::capability::settings::PluginSettings;
use crate::config::{HeaderTemplate, PluginConfig};
use crate::engine::VerifyResult;

pub use etag::Etag;
pub use file_digest::FileDigest;

/// A recorded change that is verified.
pub struct VerificationRequest<'a> {
    /// Operator whose call made the change.
    pub operator: &'a str,
    /// The recorded change.
    pub change: &'a StateChange,
    /// Grants and secrets of the plugin.
    pub plugin: &'a PluginSettings,
    /// Headers for the verifier, from the configuration of the plugin.
    pub headers: &'a [HeaderTemplate],
    /// Timeout of the verification, in milliseconds. The caller stops waiting after this time.
    pub timeout_ms: u32,
}

/// Checks that the state of a resource still matches a recorded change.
///
/// ```
/// use latchwork::engine::VerifyResult;
/// use latchwork::verifier::{ResourceVerifier, VerificationRequest, Verifiers};
/// use latchwork_core::model::error::Failure;
///
/// /// Confirms every change without checking it.
/// struct Trusting;
///
/// #[async_trait::async_trait]
/// impl ResourceVerifier for Trusting {
///     fn name(&self) -> &'static str {
///         "trusting"
///     }
///     async fn verify(&self, _: &VerificationRequest<'_>) -> Result<VerifyResult, Failure> {
///         Ok(VerifyResult::Confirmed)
///     }
/// }
///
/// let mut verifiers = Verifiers::builtin();
/// verifiers.add(std::sync::Arc::new(Trusting));
/// assert!(verifiers.get("trusting").is_some() && verifiers.get("etag").is_some());
/// ```
#[async_trait]
pub trait ResourceVerifier: Send + Sync {
    /// Name of the verifier in `latch.toml`.
    fn name(&self) -> &'static str;

    /// Verifies the change.
    ///
    /// # Errors
    /// The state of the resource could not be determined. The error contains the reason, and is never treated
    /// as a mismatch.
    async fn verify(&self, looking: &VerificationRequest<'_>) -> Result<VerifyResult, Failure>;
}

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

    /// Adds a verifier, or replaces the one with the same name.
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

    /// Verifies a change of a plugin.
    pub(crate) async fn verify(
        &self,
        name: &str,
        operator: &str,
        change: &StateChange,
        plugin: &PluginSettings,
        timeout_ms: u32,
    ) -> Result<VerifyResult, Failure> {
        let Some(verifier) = self.get(name) else {
            return Err(unavailable(format!("this host has no verifier {name:?}")));
        };
        let headers = self.headers.get(&plugin.name).map(Vec::as_slice).unwrap_or_default();
        let looking = VerificationRequest { operator, change, plugin, headers, timeout_ms };
        let within = std::time::Duration::from_millis(u64::from(timeout_ms));
        match tokio::time::timeout(within, verifier.verify(&looking)).await {
            Ok(found) => found,
            Err(_) => Err(unavailable(format!("the verifier {name:?} did not end within {timeout_ms} ms"))),
        }
    }
}

/// Creates the failure of a verification that could not determine the state.
fn unavailable(message: impl Into<String>) -> Failure {
    Failure::new(Code::DependencyUnavailable, message)
}
