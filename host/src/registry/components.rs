//! Components stored by digest, for the jobs that have pinned them.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use latchwork_core::model::ids::Hash;
use latchwork_engine::os::temp_files;
use latchwork_engine::{PluginProblem, os};

/// A directory of files `<digest>.wasm`, each with the name of its plugin in `<digest>.plugin`.
#[derive(Debug)]
pub(super) struct Components {
    dir: PathBuf,
}

/// A stored component with its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StoredComponent {
    /// Name of the plugin when the component was stored.
    pub(super) plugin: String,
    /// Bytes of the component. Their digest was checked.
    pub(super) bytes: Vec<u8>,
}

/// A stored component without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredComponentInfo {
    /// Name of the plugin when the component was stored.
    pub plugin: String,
    /// Digest of the component.
    pub digest: Hash,
    /// Size in bytes.
    pub bytes: u64,
    /// Time at which the component was last stored or confirmed as in use.
    kept: SystemTime,
}

/// A stored component whose bytes do not match its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedComponent {
    /// Name of the plugin when the component was stored.
    pub plugin: String,
    /// Digest that the component should have.
    pub digest: Hash,
    /// Path of the damaged file.
    pub path: PathBuf,
}

/// Minimum age of a stored component before it can be pruned. A younger component is kept, because a job that is being
/// accepted may be about to pin the component.
const PRUNE_AGE_MIN: Duration = Duration::from_secs(60 * 60);

fn now() -> SystemTime {
    os::clock::system_time(os::clock::now_us())
}

impl Components {
    pub(super) fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Stores a component. Called before any job can pin the component.
    pub(super) fn store(&self, plugin: &str, digest: Hash, bytes: &[u8]) -> Result<(), PluginProblem> {
        let failed = |error: std::io::Error| {
            let error = temp_files::without_path(error);
            PluginProblem::unwritable(
                format!("its component cannot be kept in {}: {error}", self.dir.display()),
                &error,
            )
        };
        // The folder is part of the state folder, which other users cannot read.
        let mut private = std::fs::DirBuilder::new();
        private.recursive(true).mode(0o700).create(&self.dir).map_err(failed)?;
        let wasm = self.path(digest, "wasm");
        // A stored file that was damaged on disk is replaced by the valid bytes.
        if std::fs::read(&wasm).is_ok_and(|kept| kept == bytes) {
            let name = std::fs::read(self.path(digest, "plugin"));
            if name.is_ok_and(|name| name == plugin.as_bytes()) {
                // The component is in use again, so its modification time is renewed. Otherwise the component could be
                // pruned while the host accepts a job that is about to pin it.
                let file = std::fs::File::options().write(true).open(&wasm);
                return file.and_then(|file| file.set_modified(now())).map_err(failed);
            }
        }
        self.write(&self.path(digest, "plugin"), plugin.as_bytes()).map_err(failed)?;
        self.write(&wasm, bytes).map_err(failed)
    }

    /// Returns the component with this digest.
    pub(super) fn get(&self, digest: Hash) -> Result<StoredComponent, PluginProblem> {
        let wasm = self.path(digest, "wasm");
        let bytes = std::fs::read(&wasm).map_err(|error| match error.kind() {
            ErrorKind::NotFound => PluginProblem::Source(format!(
                "a job pinned this version, but it is not kept in {}; configure the plugin with this digest again",
                self.dir.display()
            )),
            _ => PluginProblem::Source(format!("{} cannot be read: {error}", wasm.display())),
        })?;
        let found = Hash::of(&[&bytes]);
        if found != digest {
            return Err(PluginProblem::Digest { expected: digest, found });
        }
        let name = self.path(digest, "plugin");
        let plugin = std::fs::read_to_string(&name)
            .map_err(|error| PluginProblem::Source(format!("{} cannot be read: {error}", name.display())))?;
        Ok(StoredComponent { plugin, bytes })
    }

    /// Lists every stored component, the largest first.
    pub(super) fn list(&self) -> std::io::Result<Vec<StoredComponentInfo>> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let digest = name.to_str().and_then(|name| Hash::from_hex(name.strip_suffix(".wasm")?));
            let Some(digest) = digest else { continue };
            let plugin = std::fs::read_to_string(self.path(digest, "plugin")).unwrap_or_default();
            let about = entry.metadata()?;
            all.push(StoredComponentInfo { plugin, digest, bytes: about.len(), kept: about.modified()? });
        }
        all.sort_by_key(|stored| (std::cmp::Reverse(stored.bytes), stored.digest));
        Ok(all)
    }

    /// Counts the components whose bytes match their digests, and lists the damaged components. Reads one component
    /// into memory at a time.
    pub(super) fn find_damaged(&self) -> std::io::Result<(usize, Vec<DamagedComponent>)> {
        let (mut whole, mut damaged) = (0, Vec::new());
        for StoredComponentInfo { plugin, digest, .. } in self.list()? {
            let path = self.path(digest, "wasm");
            match std::fs::read(&path).is_ok_and(|bytes| Hash::of(&[&bytes]) == digest) {
                true => whole += 1,
                // A missing file does not count as damaged, because another process may have pruned the component after
                // this process listed it.
                false if path.exists() => damaged.push(DamagedComponent { plugin, digest, path }),
                false => {}
            }
        }
        Ok((whole, damaged))
    }

    /// Removes and returns the components that are not needed and are at least `PRUNE_AGE_MIN` old.
    pub(super) fn prune(&self, is_needed: impl Fn(Hash) -> bool) -> std::io::Result<Vec<StoredComponentInfo>> {
        let mut removed = Vec::new();
        for stored in self.list()? {
            let is_fresh = now().duration_since(stored.kept).map_or(true, |age| age < PRUNE_AGE_MIN);
            if is_needed(stored.digest) || is_fresh {
                continue;
            }
            std::fs::remove_file(self.path(stored.digest, "wasm"))?;
            match std::fs::remove_file(self.path(stored.digest, "plugin")) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => removed.push(stored),
            }
        }
        Ok(removed)
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
    fn stored_component_is_found_and_damage_is_repaired() {
        let dir = tempfile::tempdir().unwrap();
        let components = Components::at(dir.path().join("components"));
        let (bytes, digest) = (b"component".as_slice(), Hash::of(&[b"component"]));
        assert!(components.get(digest).unwrap_err().to_string().contains("not kept"));
        components.store("mail", digest, bytes).unwrap();
        let kept = StoredComponent { plugin: "mail".into(), bytes: bytes.to_vec() };
        assert_eq!(components.get(digest).unwrap(), kept);
        std::fs::write(components.path(digest, "wasm"), b"damaged").unwrap();
        assert!(matches!(components.get(digest).unwrap_err(), PluginProblem::Digest { .. }));
        components.store("mail", digest, bytes).unwrap();
        assert_eq!(components.get(digest).unwrap(), kept);
    }

    /// I43: pruning removes no component that is needed or recent.
    #[test]
    fn needed_or_recent_components_are_never_pruned() {
        let dir = tempfile::tempdir().unwrap();
        let components = Components::at(dir.path().join("components"));
        assert_eq!(components.list().unwrap(), []);
        let digests = ["needed", "fresh", "old"].map(|name| Hash::of(&[name.as_bytes()]));
        for (name, digest) in ["needed", "fresh", "old"].into_iter().zip(digests) {
            components.store("mail", digest, name.as_bytes()).unwrap();
        }
        for digest in [digests[0], digests[2]] {
            let file = std::fs::File::options().write(true).open(components.path(digest, "wasm")).unwrap();
            file.set_modified(now() - 2 * PRUNE_AGE_MIN).unwrap();
        }
        let pruned = components.prune(|digest| digest == digests[0]).unwrap();
        assert_eq!(pruned.iter().map(|stored| stored.digest).collect::<Vec<_>>(), [digests[2]]);
        assert_eq!((pruned[0].bytes, pruned[0].plugin.as_str()), (3, "mail"));
        assert!(components.get(digests[2]).is_err());
        assert!(components.get(digests[0]).is_ok() && components.get(digests[1]).is_ok());
    }
}
