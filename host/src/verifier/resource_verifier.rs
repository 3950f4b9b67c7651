//! The interface of a verifier.

use async_trait::async_trait;

use latchwork_core::model::effect::StateChange;
use latchwork_core::model::error::{Code, Failure};
use latchwork_engine::VerifyResult;
use latchwork_engine::capability::open_dirs::OpenDirs;
use latchwork_engine::capability::settings::PluginSettings;
use latchwork_engine::os::Machine;

use crate::config::HeaderTemplate;

/// Checks that the state of a resource still matches a recorded change.
///
/// ```
/// use latchwork_engine::VerifyResult;
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

/// A recorded change that is verified.
pub struct VerificationRequest<'a> {
    /// Operator whose call made the change.
    pub operator: &'a str,
    /// The recorded change.
    pub change: &'a StateChange,
    /// Grants and secrets of the plugin.
    pub plugin: &'a PluginSettings,
    /// Granted directories of the plugin, open since the plugin was loaded.
    pub dirs: &'a OpenDirs,
    /// Headers for the verifier, from the configuration of the plugin.
    pub headers: &'a [HeaderTemplate],
    /// Timeout of the verification, in milliseconds. The caller stops waiting after this time.
    pub timeout_ms: u32,
    /// Clock of the host, for the timeout.
    pub machine: &'a Machine,
}

/// Creates the failure of a verification that could not determine the state.
pub(crate) fn unavailable(message: impl Into<String>) -> Failure {
    Failure::new(Code::DependencyUnavailable, message)
}
