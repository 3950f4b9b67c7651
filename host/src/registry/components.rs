//! Components kept under their digests, for as long as jobs may have pinned them.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use latchwork_core::ids::Hash;

use crate::engine::Problem;

/// A directory of `<digest>.wasm`, each with the name of its plugin in `<digest>.plugin`.
#[derive(Debug)]
pub(super) struct Components {
    dir: PathBuf,
}

/// A kept component.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The plugin's name when it was kept.
    pub(super) plugin: String,
    /// The component; its digest was checked.
    pub(super) bytes: Vec<u8>,
}

impl Components {
    pub(super) fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Keep a component. Done before any job can pin it.
    pub(super) fn keep(&self, plugin: &str, digest: Hash, bytes: &[u8]) -> Result<(), Problem> {
        let failed = |error: std::io::Error| {
            Problem::Source(format!("its component cannot be kept in {}: {error}", self.dir.display()))
        };
        std::fs::create_dir_all(&self.dir).map_err(failed)?;
        let wasm = self.path(digest, "wasm");
        // One that was damaged on disk is replaced by the good bytes at hand.
        if std::fs::read(&wasm).is_ok_and(|kept| kept == bytes) {
            let name = std::fs::read(self.path(digest, "plugin"));
            if name.is_ok_and(|name| name == plugin.as_bytes()) {
                return Ok(());
            }
        }
        self.write(&self.path(digest, "plugin"), plugin.as_bytes()).map_err(failed)?;
        self.write(&wasm, bytes).map_err(failed)
    }

    /// A component by its digest.
    pub(super) fn get(&self, digest: Hash) -> Result<Kept, Problem> {
        let wasm = self.path(digest, "wasm");
        let bytes = std::fs::read(&wasm).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Problem::Source(format!(
                "a job pinned this version, but it is not kept in {}; configure the plugin with this digest again",
                self.dir.display()
            )),
            _ => Problem::Source(format!("{} cannot be read: {error}", wasm.display())),
        })?;
        let found = Hash::of(&[&bytes]);
        if found != digest {
            return Err(Problem::Digest { expected: digest, found });
        }
        let name = self.path(digest, "plugin");
        let plugin = std::fs::read_to_string(&name)
            .map_err(|error| Problem::Source(format!("{} cannot be read: {error}", name.display())))?;
        Ok(Kept { plugin, bytes })
    }

    fn path(&self, digest: Hash, extension: &str) -> PathBuf {
        self.dir.join(format!("{digest}.{extension}"))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.dir)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_and_damage_is_noticed_and_mended() {
        let dir = tempfile::tempdir().unwrap();
        let components = Components::at(dir.path().join("components"));
        let (bytes, digest) = (b"component".as_slice(), Hash::of(&[b"component"]));
        assert!(components.get(digest).unwrap_err().to_string().contains("not kept"));
        components.keep("mail", digest, bytes).unwrap();
        let kept = Kept { plugin: "mail".into(), bytes: bytes.to_vec() };
        assert_eq!(components.get(digest).unwrap(), kept);
        std::fs::write(components.path(digest, "wasm"), b"damaged").unwrap();
        assert!(matches!(components.get(digest).unwrap_err(), Problem::Digest { .. }));
        components.keep("mail", digest, bytes).unwrap();
        assert_eq!(components.get(digest).unwrap(), kept);
    }
}
