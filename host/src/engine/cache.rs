//! Compiled code on disk, so that each component is compiled once per machine.
//!
//! The engine must only ever be given code that it compiled itself: loading anything else is
//! running it. So the directory belongs to us alone, each entry carries a checksum over its
//! content and what it was made from, and an entry that does not match is made anew. Writing is
//! by rename, so that processes at the same time see a whole entry or none.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use latchwork_core::ids::Hash;
use wasmtime::component::Component;

use super::error::EngineError;

/// First bytes of an entry; the number is the layout: magic, SHA-256 of the rest, key, code.
const MAGIC: &[u8; 8] = b"LATCHAOT";
const LAYOUT: u32 = 1;
const HEADER_BYTES: usize = 8 + 4 + 32 + 32;

/// A directory of compiled components.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// Open, or create, the directory. Refused if anybody else could write to it.
    pub(crate) fn open(dir: &Path) -> Result<Self, EngineError> {
        let refuse = |reason: String| EngineError::Cache { path: dir.display().to_string(), reason };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| refuse(error.to_string()))?;
        // Not through a link: the place that is checked is the place that is used.
        let meta = std::fs::symlink_metadata(dir).map_err(|error| refuse(error.to_string()))?;
        if !meta.is_dir() {
            return Err(refuse("it is not a directory".to_owned()));
        }
        let me = rustix::process::geteuid().as_raw();
        if meta.uid() != me {
            return Err(refuse(format!("it belongs to user {}, not to this one ({me})", meta.uid())));
        }
        if meta.permissions().mode() & 0o022 != 0 {
            return Err(refuse("others may write to it; run chmod 700 on it".to_owned()));
        }
        Ok(Self { dir: dir.to_owned() })
    }

    /// The component, from the cache if there is a good entry, else compiled and kept.
    pub(crate) fn component(
        &self,
        engine: &wasmtime::Engine,
        profile: Hash,
        digest: Hash,
        bytes: &[u8],
    ) -> wasmtime::Result<Component> {
        let key = key(engine, profile, digest);
        let path = self.dir.join(format!("{}.aot", key.to_hex()));
        match std::fs::read(&path) {
            Ok(entry) => match code(&entry, key) {
                Some(code) => match load(engine, code) {
                    Ok(component) => return Ok(component),
                    Err(error) => tracing::debug!("compiled code of {digest} is of no use here: {error:#}"),
                },
                None => tracing::warn!("compiled code in {} is damaged; it is made anew", path.display()),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("compiled code in {} cannot be read: {error}", path.display()),
        }
        let component = Component::new(engine, bytes)?;
        // A full disk costs time at the next start, nothing else.
        if let Err(error) = self.keep(&path, key, &component.serialize()?) {
            tracing::warn!("compiled code cannot be kept in {}: {error}", path.display());
        }
        Ok(component)
    }

    fn keep(&self, path: &Path, key: Hash, code: &[u8]) -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.dir)?;
        file.write_all(&header(key, code))?;
        file.write_all(code)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }
}

/// What an entry is made from: the component, the profile, and this machine's and engine's own
/// settings.
fn key(engine: &wasmtime::Engine, profile: Hash, digest: Hash) -> Hash {
    use std::hash::{Hash as _, Hasher};
    // Collects what is hashed instead of mixing it: the standard hasher promises no stable result.
    struct Collect(Vec<u8>);
    impl Hasher for Collect {
        fn finish(&self) -> u64 {
            0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }
    let mut machine = Collect(Vec::new());
    engine.precompile_compatibility_hash().hash(&mut machine);
    Hash::of(&[&digest.0, &profile.0, &machine.0])
}

fn header(key: Hash, code: &[u8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&LAYOUT.to_le_bytes());
    header[12..44].copy_from_slice(&Hash::of(&[&key.0, code]).0);
    header[44..].copy_from_slice(&key.0);
    header
}

/// The code of an entry that is whole and for this key.
fn code(entry: &[u8], wanted: Hash) -> Option<&[u8]> {
    let (head, code) = entry.split_at_checked(HEADER_BYTES)?;
    (head == header(wanted, code)).then_some(code)
}

#[expect(unsafe_code, reason = "the engine cannot check compiled code; what it is given is checked here")]
fn load(engine: &wasmtime::Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must be given what `Component::serialize` gave, unchanged. `code`
    // comes from an entry whose checksum over content and key was verified a moment ago, on
    // bytes already in our memory, out of a directory that only this user can write to and that
    // nothing but `keep` writes to. The engine itself checks version and settings.
    unsafe { Component::deserialize(engine, code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn engine() -> (wasmtime::Engine, Hash) {
        let (config, profile) = crate::engine::profile::build(latchwork_core::manifest::PluginKind::Step);
        (wasmtime::Engine::new(&config).unwrap(), profile)
    }

    fn only_entry(dir: &Path) -> PathBuf {
        let entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries[0].clone()
    }

    #[test]
    fn any_damaged_entry_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("compiled")).unwrap();
        let (engine, profile) = engine();
        let digest = Hash::of(&[EMPTY]);
        let load = || cache.component(&engine, profile, digest, EMPTY).unwrap();
        load();
        let path = only_entry(&cache.dir);
        let good = std::fs::read(&path).unwrap();
        let key = key(&engine, profile, digest);
        assert!(code(&good, key).is_some());
        assert!(code(&good, Hash::default()).is_none(), "an entry is good for its own key alone");
        let cuts = [0, 1, HEADER_BYTES - 1, HEADER_BYTES, good.len() - 1].map(|len| good[..len].to_vec());
        let flips = [0, 9, 20, 50, HEADER_BYTES + 7, good.len() - 1].map(|at| {
            let mut bad = good.clone();
            bad[at] ^= 1;
            bad
        });
        for bad in cuts.into_iter().chain(flips) {
            assert!(code(&bad, key).is_none());
            std::fs::write(&path, &bad).unwrap();
            load();
            assert_eq!(std::fs::read(only_entry(&cache.dir)).unwrap().len(), good.len());
            assert!(code(&std::fs::read(&path).unwrap(), key).is_some());
        }
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("compiled");
        Cache::open(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Cache::open(&path).unwrap_err().to_string().contains("chmod 700"));
        std::fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink(dir.path(), &path).unwrap();
        assert!(Cache::open(&path).is_err());
    }
}
