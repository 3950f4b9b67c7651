//! Helpers for temporary files: error messages without the temporary path, and permissions of the final
//! files.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;

/// Returns the permissions with which programs usually create a file, before the umask is applied.
pub fn default_permissions() -> Permissions {
    Permissions::from_mode(0o666)
}

/// Removes the path of the temporary file from an error. `tempfile` adds this path, but a user does not know the file.
pub fn without_path(error: io::Error) -> io::Error {
    // An error of the operating system itself contains no path.
    if error.get_ref().is_none() {
        return error;
    }
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_owned()),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_omits_temporary_path() {
        let dir = tempfile::tempdir().unwrap();
        let error = tempfile::Builder::new().tempfile_in(dir.path().join("none")).map(drop).unwrap_err();
        assert!(error.to_string().contains("at path"), "{error}");
        let message = without_path(error);
        assert_eq!(message.kind(), io::ErrorKind::NotFound);
        assert_eq!(message.to_string(), "No such file or directory (os error 2)");
        assert_eq!(without_path(io::Error::from_raw_os_error(28)).raw_os_error(), Some(28));
    }
}
