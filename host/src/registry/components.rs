//! Components kept under their digests, for as long as jobs may have pinned them.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use latchwork_core::ids::Hash;

use crate::engine::Problem;
use crate::{files, os};

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

/// What is known of a kept component without loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The plugin's name when it was kept.
    pub plugin: String,
    /// Its digest.
    pub digest: Hash,
    /// Its size.
    pub bytes: u64,
    /// When it was kept last.
    kept: SystemTime,
}

/// A kept component whose bytes are not those that its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The plugin's name when it was kept.
    pub plugin: String,
    /// The digest it should have.
    pub digest: Hash,
    /// Its file.
    pub path: PathBuf,
}

/// What was kept within this time may belong to a job that is just being accepted.
const FRESH: Duration = Duration::from_secs(60 * 60);

fn now() -> SystemTime {
    os::clock::system_time(os::clock::now_us())
}

impl Components {
    pub(super) fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Keep a component. Done before any job can pin it.
    pub(super) fn keep(&self, plugin: &str, digest: Hash, bytes: &[u8]) -> Result<(), Problem> {
        let failed = |error: std::io::Error| {
            let error = files::without_path(error);
            Problem::unwritable(format!("its component cannot be kept in {}: {error}", self.dir.display()), &error)
        };
        std::fs::create_dir_all(&self.dir).map_err(failed)?;
        let wasm = self.path(digest, "wasm");
        // One that was damaged on disk is replaced by the good bytes at hand.
        if std::fs::read(&wasm).is_ok_and(|kept| kept == bytes) {
            let name = std::fs::read(self.path(digest, "plugin"));
            if name.is_ok_and(|name| name == plugin.as_bytes()) {
                // It is in use again: not to be pruned while a job is just being accepted.
                let file = std::fs::File::options().write(true).open(&wasm);
                return file.and_then(|file| file.set_modified(now())).map_err(failed);
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

    /// Every kept component, the largest first.
    pub(super) fn list(&self) -> std::io::Result<Vec<Stored>> {
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
            all.push(Stored { plugin, digest, bytes: about.len(), kept: about.modified()? });
        }
        all.sort_by_key(|stored| (std::cmp::Reverse(stored.bytes), stored.digest));
        Ok(all)
    }

    /// Counts the components that have the digests that name them, and lists the others. One is in memory at a time.
    pub(super) fn damaged(&self) -> std::io::Result<(usize, Vec<Damaged>)> {
        let (mut whole, mut damaged) = (0, Vec::new());
        for Stored { plugin, digest, .. } in self.list()? {
            let path = self.path(digest, "wasm");
            match std::fs::read(&path).is_ok_and(|bytes| Hash::of(&[&bytes]) == digest) {
                true => whole += 1,
                // One that was pruned meanwhile is not missed.
                false if path.exists() => damaged.push(Damaged { plugin, digest, path }),
                false => {}
            }
        }
        Ok((whole, damaged))
    }

    /// Remove what is not needed and not fresh; what was removed.
    pub(super) fn prune(&self, is_needed: impl Fn(Hash) -> bool) -> std::io::Result<Vec<Stored>> {
        let mut removed = Vec::new();
        for stored in self.list()? {
            let is_fresh = now().duration_since(stored.kept).map_or(true, |age| age < FRESH);
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

    /// I43.
    #[test]
    fn what_is_needed_or_fresh_is_never_pruned() {
        let dir = tempfile::tempdir().unwrap();
        let components = Components::at(dir.path().join("components"));
        assert_eq!(components.list().unwrap(), []);
        let digests = ["needed", "fresh", "old"].map(|name| Hash::of(&[name.as_bytes()]));
        for (name, digest) in ["needed", "fresh", "old"].into_iter().zip(digests) {
            components.keep("mail", digest, name.as_bytes()).unwrap();
        }
        for digest in [digests[0], digests[2]] {
            let file = std::fs::File::options().write(true).open(components.path(digest, "wasm")).unwrap();
            file.set_modified(now() - 2 * FRESH).unwrap();
        }
        let pruned = components.prune(|digest| digest == digests[0]).unwrap();
        assert_eq!(pruned.iter().map(|stored| stored.digest).collect::<Vec<_>>(), [digests[2]]);
        assert_eq!((pruned[0].bytes, pruned[0].plugin.as_str()), (3, "mail"));
        assert!(components.get(digests[2]).is_err());
        assert!(components.get(digests[0]).is_ok() && components.get(digests[1]).is_ok());
    }
}
