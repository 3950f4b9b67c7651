//! Sources of secret values.

use std::path::PathBuf;

/// Source of secret values. The host inserts the values into requests, never into events, logs or evidence. A guest
/// gets the values only if its plugin has the grant `secrets_clear`.
pub trait Secrets: Send + Sync {
    /// Returns the value of a secret, or `None` if no value is configured.
    fn value(&self, name: &str) -> Option<String>;
}

/// Reads the environment variable `LATCH_SECRET_<NAME>`, or else the file `<NAME>` in a directory. A final
/// line break in the file is not part of the value.
#[derive(Clone, Debug)]
pub struct EnvOrFile {
    /// Directory `secrets` in the state directory.
    pub dir: PathBuf,
}

impl Secrets for EnvOrFile {
    fn value(&self, name: &str) -> Option<String> {
        // The name becomes the name of a file. It must not lead to another directory.
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if !plain {
            return None;
        }
        if let Ok(value) = std::env::var(format!("LATCH_SECRET_{name}")) {
            return Some(value);
        }
        let text = std::fs::read_to_string(self.dir.join(name)).ok()?;
        let value = text.strip_suffix('\n').unwrap_or(&text);
        Some(value.strip_suffix('\r').unwrap_or(value).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_are_read_only_from_their_directory() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = dir.path().join("secrets");
        std::fs::create_dir(&secrets).unwrap();
        std::fs::write(secrets.join("TOKEN"), "abc\r\n").unwrap();
        std::fs::write(dir.path().join("other"), "no").unwrap();
        let source = EnvOrFile { dir: secrets };
        assert_eq!(source.value("TOKEN").as_deref(), Some("abc"));
        for name in ["", "NONE", "../other", ".", "/etc/hostname"] {
            assert_eq!(source.value(name), None, "{name:?}");
        }
    }
}
