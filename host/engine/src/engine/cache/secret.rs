//! Secret of the HMAC over the entries of a cache. Only the user can read its file.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use crate::os::Machine;

use super::own_file::{check_ownership, open_own_file};
use super::size::TEMPORARY;

/// Name of the file that holds the secret.
pub(super) const SECRET_FILE: &str = "secret";

/// Reason why the secret is not available.
pub(super) enum SecretError {
    /// The secret cannot be trusted.
    Refused(String),
    /// The secret cannot be read or created.
    Failed(std::io::Error),
}

impl From<std::io::Error> for SecretError {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Reads the secret of a directory. Creates the secret on first use.
pub(super) fn load_or_create_secret(dir: &Path, machine: &Machine) -> Result<[u8; 32], SecretError> {
    let path = dir.join(SECRET_FILE);
    let mut file = match open_own_file(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // The temporary file has mode 600. Another process may have created the secret in the meantime. This
            // function then uses the secret of the other process.
            let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(dir)?;
            file.write_all(&machine.random_bytes::<32>())?;
            file.as_file().sync_all()?;
            match file.persist_noclobber(&path) {
                Err(error) if error.error.kind() != ErrorKind::AlreadyExists => {
                    return Err(error.error.into());
                }
                _ => open_own_file(&path)?,
            }
        }
        Err(error) => return Err(error.into()),
    };
    let refuse =
        |reason: String| SecretError::Refused(format!("its file {SECRET_FILE:?}: {reason}; remove the directory"));
    check_ownership(&file.metadata()?, 0o077).map_err(refuse)?;
    let mut bytes = Vec::new();
    (&mut file).take(33).read_to_end(&mut bytes)?;
    bytes.try_into().map_err(|_| refuse("it is damaged".to_owned()))
}
