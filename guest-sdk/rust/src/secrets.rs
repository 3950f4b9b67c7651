//! Secrets by name.
//!
//! A tool gets a placeholder. In the headers and bodies to which a grant binds the secret, the host replaces the
//! placeholder by the secret. The tool sees the secret itself only if its grant includes `secrets_clear`.

use crate::{Error, host};

/// Returns the placeholder of a secret. Fails with `POLICY_DENIED` if the secret is not granted, and with
/// `MISSING_REQUIRED_CONTEXT` if the granted secret has no value.
///
/// ```
/// # use latchwork_guest::{secrets, testing::Host};
/// Host::new().secret("MAIL_TOKEN", "placeholder").run(|| {
///     let header = format!("Bearer {}", secrets::get("MAIL_TOKEN")?);
///     assert_eq!(header, "Bearer placeholder");
///     Ok::<(), latchwork_guest::Error>(())
/// })?;
/// # Ok::<(), latchwork_guest::Error>(())
/// ```
pub fn get(name: &str) -> Result<String, Error> {
    host::secret(name)
}
