//! The guest SDKs, embedded in this program so that plugins can be created and built on a machine without Latchwork's
//! sources. `interfaces::wit` embeds the interfaces.

use std::path::Path;

use crate::build::error::BuildError;
use crate::build::recipe::Lang;

/// A text file and its relative path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EmbeddedFile {
    /// Path of the file, relative to its root folder.
    pub(super) path: &'static str,
    /// Content of the file.
    pub(super) text: &'static str,
}

macro_rules! files {
    ($root:literal: $($path:literal)*) => {
        &[$(EmbeddedFile { path: $path, text: include_str!(concat!("../../../../", $root, "/", $path)) }),*]
    };
}

/// WIT files of the packages `real:clocks` and `real:random`. During a build, tools in most languages import
/// the real clock and real entropy under these names.
pub(super) const REAL_WIT: &[EmbeddedFile] = files!("guest-sdk/wit": "clocks.wit" "random.wit");

const JS: &[EmbeddedFile] = files!("guest-sdk/js": "README.md" "component/step-host.js" "component/step.js"
    "component/tool-host.js" "component/tool.js" "component/values.js" "console.js" "failure.js" "host.js" "index.d.ts" "index.js"
    "json.js" "operators.js" "package.json" "prelude.js" "schema.js" "show.js" "stack.js" "testing.js" "text.js");

const PYTHON: &[EmbeddedFile] = files!("guest-sdk/python/latchwork": "README.md" "__init__.py"
    "_component.py" "_failure.py" "_host.py" "_operators.py"
    "_prelude.py" "_scan.py" "_schema.py" "_step.py" "_tool.py"
    "testing.py");

const C: &[EmbeddedFile] = files!("guest-sdk/c": "README.md" "bindings/latch.c" "bindings/latch.h" "component.c" "latchwork.h"
    "latchwork/answer.h" "latchwork/json.h" "latchwork/plugin.h" "latchwork/text.h" "latchwork/world.h" "testing.h"
    "wasi.c");

const GO: &[EmbeddedFile] = files!("guest-sdk/go": "README.md" "failure.go" "go.mod" "internal/host/empty.s"
    "internal/host/exports.go" "internal/host/host.go" "internal/host/layout.go" "internal/host/memory.go"
    "internal/host/native.go" "internal/host/wasm.go" "json.go" "latchtest/host.go" "latchtest/standin.go"
    "latchwork.go" "log.go" "operator.go" "schema.go" "serve.go" "testing.go" "tools.go" "world.go");

const RUST: &[EmbeddedFile] = files!("guest-sdk/rust": "Cargo.toml" "README.md" "src/bindings/export_compensate.rs"
    "src/bindings/export_invoke.rs" "src/bindings/export_plugin.rs" "src/bindings/export_reconcile.rs"
    "src/bindings/export_run.rs" "src/bindings/export_verify.rs" "src/bindings/imports.rs" "src/bindings/mod.rs"
    "src/clock.rs" "src/config.rs" "src/context.rs" "src/data/fs.rs" "src/data/http.rs" "src/data/level.rs"
    "src/data/mod.rs" "src/data/timestamp.rs" "src/error.rs" "src/events.rs" "src/export.rs"
    "src/finite.rs" "src/fs.rs"
    "src/host/files.rs" "src/host/guest.rs" "src/host/mod.rs" "src/host/net.rs" "src/http.rs" "src/kv.rs" "src/lib.rs"
    "src/log.rs" "src/manifest.rs" "src/rng.rs" "src/schema.rs" "src/secrets.rs" "src/step.rs"
    "src/testing/doubles.rs" "src/testing/files.rs" "src/testing/mod.rs" "src/tool/context.rs"
    "src/tool/dispatch.rs" "src/tool/mod.rs" "src/tool/output.rs" "src/tools.rs" "src/wall.rs");

/// Returns the SDK files of a language.
pub(super) fn files(lang: Lang) -> &'static [EmbeddedFile] {
    match lang {
        Lang::Rust => RUST,
        Lang::Js => JS,
        Lang::Python => PYTHON,
        Lang::C => C,
        Lang::Go => GO,
    }
}

/// Writes files below a folder.
pub(super) fn write_files(dir: &Path, files: &[EmbeddedFile]) -> Result<(), BuildError> {
    for file in files {
        write_file(&dir.join(file.path), file.text)?;
    }
    Ok(())
}

/// Writes one file and creates its parent folders.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), BuildError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| BuildError::io("make", folder, error))?;
    }
    std::fs::write(path, text).map_err(|error| BuildError::io("write", path, error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;
    use latchwork_engine::interfaces::wit::WIT;

    fn below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
            match path.is_dir() {
                // Skips folders that are not part of the SDK: templates, pinned tools and the SDK's own
                // tests.
                true if ["template", "tools", "tests", "__pycache__"].contains(&name.as_str()) => {}
                true if name.ends_with("__pycache__") => {}
                true => below(&path, &format!("{name}/"), found),
                false => drop(found.insert(name)),
            }
        }
    }

    #[test]
    fn every_sdk_file_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let wit: Vec<_> = WIT.iter().map(|(path, text)| EmbeddedFile { path, text }).collect();
        for (folder, files) in [
            ("wit", wit.as_slice()),
            ("guest-sdk/wit", REAL_WIT),
            ("guest-sdk/js", JS),
            ("guest-sdk/python/latchwork", PYTHON),
            ("guest-sdk/c", C),
            ("guest-sdk/go", GO),
            ("guest-sdk/rust", RUST),
        ] {
            let mut there = BTreeSet::new();
            below(&root.join(folder), "", &mut there);
            // `sdk.wit` is not part of the SDK. Only the generator of the bindings uses this file.
            there.remove("sdk.wit");
            let carried: BTreeSet<String> = files.iter().map(|file| file.path.to_owned()).collect();
            assert_eq!(there, carried, "{folder}");
        }
    }

    #[test]
    fn write_creates_parent_folders() {
        let dir = tempfile::tempdir().unwrap();
        write_files(dir.path(), JS).unwrap();
        let made: PathBuf = dir.path().join("component/step.js");
        assert!(std::fs::read_to_string(made).unwrap().contains("latchwork-plugin-main"));
    }
}
