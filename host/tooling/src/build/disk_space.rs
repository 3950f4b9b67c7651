//! Detects builds that failed because a folder cannot be written. Some programs do not report this cause, so this
//! module tries to write a file.

use std::io;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::build::error::BuildError;
use crate::build::options::BuildOptions;

/// Free space in bytes below which a build may fail.
const REQUIRED_BYTES: usize = 4 << 20;

/// If `error` is about a failed program, tests the folders that a build needs. Adds to the error the first folder that
/// cannot be written. Returns `error` unchanged if every folder can be written.
pub(super) fn with_unwritable_folder(error: BuildError, dir: &Path, options: &BuildOptions) -> BuildError {
    let is_of_program =
        matches!(error, BuildError::Failed { .. } | BuildError::Install { .. } | BuildError::NoWasmTarget(_));
    if !is_of_program || error.unwritable_code().is_some() {
        return error;
    }
    let build = dir.join("build");
    for folder in [build.as_path(), dir] {
        if let Err(source) = check_writable(folder) {
            return BuildError::UnwritableFolder { error: Box::new(error), dir: folder.to_owned(), source };
        }
    }
    // For these folders, only a full disk is reported. A build can succeed although one of them is read-only.
    for folder in [&options.tools_dir, &options.toolchain_dir, &std::env::temp_dir()] {
        if let Err(source) = check_writable(folder)
            && matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        {
            return BuildError::UnwritableFolder { error: Box::new(error), dir: folder.clone(), source };
        }
    }
    error
}

/// Tests a folder by writing [`REQUIRED_BYTES`] to an unnamed temporary file.
fn check_writable(folder: &Path) -> io::Result<()> {
    let block = vec![1; 64 << 10];
    let mut file = tempfile::tempfile_in(folder)?;
    (0..REQUIRED_BYTES / block.len()).try_for_each(|_| file.write_all(&block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_unchanged_if_folders_are_writable() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("build")).unwrap();
        let folder = dir.path().to_owned();
        let options = BuildOptions { toolchain_dir: folder.clone(), tools_dir: folder, ..BuildOptions::default() };
        let failed = |output: &str| BuildError::Failed {
            what: "compiling".into(),
            status: "exit status: 1".into(),
            output: output.into(),
        };
        assert_eq!(with_unwritable_folder(failed("no such name"), dir.path(), &options).unwritable_code(), None);
        for (message, code) in [("write: No space left on device", "L0100"), ("EROFS: read-only file system", "L0101")]
        {
            assert_eq!(
                with_unwritable_folder(failed(message), dir.path(), &options).unwritable_code(),
                Some(code),
                "{message}"
            );
        }
    }
}
