//! Publishes a finished component under its final path.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::PluginKind;
use latchwork_engine::os::temp_files;

use crate::build::error::BuildError;
use crate::build::real_imports;
use crate::build::recipe::{Lang, Recipe};

/// Magic number, version and layer of a component.
const COMPONENT: [u8; 8] = [0, b'a', b's', b'm', 0x0d, 0, 1, 0];
/// Magic number, version and layer of a core module.
const MODULE: [u8; 8] = [0, b'a', b's', b'm', 1, 0, 0, 0];

/// A component that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltPlugin {
    /// The plugin's name in its recipe.
    pub name: String,
    /// Kind of the plugin in its recipe.
    pub kind: PluginKind,
    /// Path of the component.
    pub wasm: PathBuf,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// True if the component differs from the file that was at this path before the build.
    pub changed: bool,
}

/// Writes a file atomically. A reader sees the old file or the new file, never a partial file.
pub(super) fn replace(place: &Path, content: &[u8]) -> Result<(), BuildError> {
    let dir = place.parent().expect("the file is in a folder");
    std::fs::create_dir_all(dir).map_err(|error| BuildError::io("make", dir, error))?;
    let put = || -> std::io::Result<()> {
        // The file gets the default permissions of new files. Temporary files would otherwise be readable by their
        // owner only.
        let mut file = tempfile::Builder::new().permissions(temp_files::default_permissions()).tempfile_in(dir)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        file.persist(place)?;
        Ok(())
    };
    put().map_err(|error| BuildError::io("write", place, error))
}

/// Copies a component to its final path atomically.
pub(super) fn publish(made: &Path, place: &Path, recipe: Recipe) -> Result<BuiltPlugin, BuildError> {
    let content = read_component(made, recipe.lang)?;
    let changed = std::fs::read(place).ok().is_none_or(|before| before != content);
    if changed {
        replace(place, &content)?;
    }
    Ok(BuiltPlugin {
        name: recipe.name,
        kind: recipe.kind,
        wasm: place.to_owned(),
        digest: Hash::of(&[&content]),
        bytes: content.len() as u64,
        changed,
    })
}

/// Reads the component from a file that a build produced, and checks that the file is a component.
pub(super) fn read_component(made: &Path, lang: Lang) -> Result<Vec<u8>, BuildError> {
    let mut content = std::fs::read(made).map_err(|error| BuildError::io("read", made, error))?;
    check_is_component(made, &content)?;
    if lang != Lang::Rust {
        real_imports::restore_wasi_names(&mut content);
    }
    Ok(content)
}

fn check_is_component(path: &Path, content: &[u8]) -> Result<(), BuildError> {
    let found = match content {
        content if content.starts_with(&COMPONENT) => return Ok(()),
        content if content.starts_with(&MODULE) => "a core Wasm module",
        _ => "a file of another kind",
    };
    let advice = "a Rust crate must use latchwork_guest::export_step! or export_tool!, and its .cargo/config.toml \
                  must not replace the linker wasm-component-ld";
    Err(BuildError::NotAComponent { path: path.to_owned(), found, advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, content: &[u8]) -> Result<BuiltPlugin, BuildError> {
        let made = dir.join("made.wasm");
        std::fs::write(&made, content).unwrap();
        let more = crate::build::LanguageSettings::default();
        let recipe =
            Recipe { name: "x".into(), kind: PluginKind::Tool, lang: Lang::Rust, settings: more, exceptions: vec![] };
        publish(&made, &dir.join("build/x.wasm"), recipe)
    }

    #[test]
    fn unchanged_component_is_not_rewritten() {
        let dir = tempfile::tempdir().unwrap();
        let first = put(dir.path(), &COMPONENT).unwrap();
        assert!(first.changed && !put(dir.path(), &COMPONENT).unwrap().changed);
        let other = put(dir.path(), &[&COMPONENT[..], b"x"].concat()).unwrap();
        assert!(other.changed && other.digest != first.digest);
        // The component has the same permissions as a file that is created without a temporary file.
        std::fs::write(dir.path().join("usual"), "").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions();
        assert_eq!(mode(&other.wasm), mode(&dir.path().join("usual")));
        assert_eq!(std::fs::read_dir(dir.path().join("build")).unwrap().count(), 1);
    }

    #[test]
    fn non_component_is_not_published() {
        let dir = tempfile::tempdir().unwrap();
        for content in [&MODULE[..], b"", b"#!/bin/sh"] {
            assert!(matches!(put(dir.path(), content), Err(BuildError::NotAComponent { .. })));
        }
        assert!(!dir.path().join("build").exists());
    }
}
