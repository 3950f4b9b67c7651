//! Host-side verifiers: who looks at what a plugin changed, where its `[[plugin]]` names one
//! (`verifier = "etag"`) instead of the plugin's own `verify`.
//!
//! A verifier looks and changes nothing. It goes by the plugin's grants and secrets, and has no more
//! than the plugin had.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use latchwork_core::effect::StateChange;
use latchwork_core::error::{Code, Failure};

use crate::config::{HeaderTemplate, PluginConfig};
use crate::engine::{Finding, PluginSettings};

mod etag;
mod file_digest;

pub use etag::Etag;
pub use file_digest::FileDigest;

/// One change to look at.
pub struct Looking<'a> {
    /// The operator whose call made it.
    pub operator: &'a str,
    /// What was recorded.
    pub change: &'a StateChange,
    /// Grants and secrets of the plugin.
    pub plugin: &'a PluginSettings,
    /// Headers that the plugin's table gives the verifier.
    pub headers: &'a [HeaderTemplate],
    /// Milliseconds it may take; the caller gives up after them.
    pub timeout_ms: u32,
}

/// Looks whether a recorded change is still as it was recorded.
///
/// ```
/// use latchwork::engine::Finding;
/// use latchwork::verifier::{Looking, ResourceVerifier, Verifiers};
/// use latchwork_core::error::Failure;
///
/// /// Believes everything.
/// struct Trusting;
///
/// #[async_trait::async_trait]
/// impl ResourceVerifier for Trusting {
///     fn name(&self) -> &'static str {
///         "trusting"
///     }
///     async fn verify(&self, _: &Looking<'_>) -> Result<Finding, Failure> {
///         Ok(Finding::Confirmed)
///     }
/// }
///
/// let mut verifiers = Verifiers::shipped();
/// verifiers.add(std::sync::Arc::new(Trusting));
/// assert!(verifiers.get("trusting").is_some() && verifiers.get("etag").is_some());
/// ```
#[async_trait]
pub trait ResourceVerifier: Send + Sync {
    /// The name in `latch.toml`.
    fn name(&self) -> &'static str;

    /// Look at it.
    ///
    /// # Errors
    /// It could not be told; why. That is never taken for a mismatch.
    async fn verify(&self, looking: &Looking<'_>) -> Result<Finding, Failure>;
}

/// The verifiers of a host, and what plugins give them.
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
    /// Those that come with the host.
    pub fn shipped() -> Verifiers {
        let mut verifiers = Verifiers::default();
        verifiers.add(Arc::new(Etag));
        verifiers.add(Arc::new(FileDigest));
        verifiers
    }

    /// One more, or another one under a known name.
    pub fn add(&mut self, verifier: Arc<dyn ResourceVerifier>) {
        self.by_name.insert(verifier.name(), verifier);
    }

    /// The verifier of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn ResourceVerifier>> {
        self.by_name.get(name)
    }

    /// What the configured plugins give their verifiers.
    pub(crate) fn configure(&mut self, plugins: &[PluginConfig]) {
        for plugin in plugins {
            if let Some(verifier) = &plugin.verifier {
                self.headers.insert(plugin.name.clone(), verifier.headers.clone());
            }
        }
    }

    /// Looks at a change for a plugin.
    pub(crate) async fn verify(
        &self,
        name: &str,
        operator: &str,
        change: &StateChange,
        plugin: &PluginSettings,
        timeout_ms: u32,
    ) -> Result<Finding, Failure> {
        let Some(verifier) = self.get(name) else {
            return Err(unavailable(format!("this host has no verifier {name:?}")));
        };
        let headers = self.headers.get(&plugin.name).map(Vec::as_slice).unwrap_or_default();
        let looking = Looking { operator, change, plugin, headers, timeout_ms };
        let within = std::time::Duration::from_millis(u64::from(timeout_ms));
        match tokio::time::timeout(within, verifier.verify(&looking)).await {
            Ok(found) => found,
            Err(_) => Err(unavailable(format!("the verifier {name:?} did not end within {timeout_ms} ms"))),
        }
    }
}

/// It could not be told.
fn unavailable(message: impl Into<String>) -> Failure {
    Failure::new(Code::DependencyUnavailable, message)
}
