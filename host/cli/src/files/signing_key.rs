//! Reads private keys that sign evidence.

use std::path::Path;

use latchwork::evidence::SigningKey;
use latchwork_core::model::error_docs;

use crate::error::CliError;
use crate::files::source;

/// Reads a private key from a file.
pub(crate) fn read(path: &Path) -> Result<SigningKey, CliError> {
    let text = source::file(path)?;
    SigningKey::from_pem(&String::from_utf8_lossy(&text))
        .map_err(|error| CliError::input(error_docs::KEY_REFUSED, format!("{}: {error}", path.display())))
}
