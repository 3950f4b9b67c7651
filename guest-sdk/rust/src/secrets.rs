//! Secrets by name.
//!
//! A tool gets a placeholder, which the host replaces by the secret in headers and bodies of
//! requests to the plugin's granted hosts: the tool never sees the secret itself, unless its
//! grant says `secrets_clear`.

use crate::{Error, host};

/// The placeholder of a secret.
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
