//! Verifiers of the host. If a `[[plugin]]` names a verifier, such as `verifier = "etag"`, that verifier
//! checks the recorded changes of the plugin. The plugin's own `verify` is then not used.
//!
//! A verifier only reads and changes nothing. It uses the grants and secrets of the plugin and has no further
//! rights.
//!
//! Floors, top first: `verifiers` · `etag`, `file_digest` · `resource_verifier`.

mod etag;
mod file_digest;
mod resource_verifier;
mod verifiers;

pub use etag::Etag;
pub use file_digest::FileDigest;
pub use resource_verifier::{ResourceVerifier, VerificationRequest};
pub use verifiers::Verifiers;
