//! Check that files can be created in a folder.

use std::path::Path;

use latchwork_core::model::error_docs;
use latchwork_engine::os::temp_files;

/// Checks that files can be created in a folder. The error contains the reason and the fix to suggest.
pub(crate) fn writable(dir: &Path, name: &str) -> Result<(), (String, String)> {
    let Err(error) = tempfile::tempfile_in(dir) else { return Ok(()) };
    let error = temp_files::without_path(error);
    let displayed = dir.display();
    let fix = match error_docs::code_of_write_error(error.kind()) {
        Some(error_docs::DISK_FULL) => format!("free disk space in {displayed}, or {name}"),
        Some(_) => format!("make {displayed} writable, or {name}"),
        None => format!("create the folder {displayed}, or {name}"),
    };
    Err((format!("{displayed} cannot be written to: {error}"), fix))
}
