//! On-disk cache of compiled code. With the cache, each component is compiled once per machine.
//!
//! The cache must return only code that this program compiled for this user, because the engine runs compiled code
//! without checking it. Three rules ensure this:
//!
//! * The directory belongs to the user, never to the project.
//! * Only this user may write to the directory.
//! * Each entry carries an HMAC over its content and its key. Only this user can read the secret of the HMAC. The
//!   program keeps the secret in another directory than the entries.
//!
//! An entry from a directory with another secret has a wrong HMAC. If the HMAC of an entry is wrong, the component is
//! compiled again. Entries are written by rename, so concurrent processes see a complete entry or no entry. If all
//! entries together exceed a limit, `size` removes the entries that were used least recently.

mod own_file;
mod secret;
mod size;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ring::hmac;
use wasmtime::component::Component;

use latchwork_core::model::ids::Hash;

use crate::engine::code_size;
use crate::engine::error::EngineError;
use crate::os::Machine;

use own_file::{check_ownership, open_own_file, read_all};
use secret::{SecretError, load_or_create_secret};
use size::{KEPT, MAX_BYTES};

/// Layout of an entry: HMAC over everything else, magic, layout number, key, compiled code. Entries of earlier layouts
/// begin with the magic.
const MAGIC: &[u8; 8] = b"LATCHAOT";
const LAYOUT: u32 = 3;
const HMAC_BYTES: usize = 32;
const HEADER_BYTES: usize = HMAC_BYTES + 8 + 4 + 32;

/// Directory of compiled components, with its secret.
#[derive(Clone)]
pub(crate) struct CodeCache {
    dir: PathBuf,
    secret: [u8; 32],
}

impl CodeCache {
    /// Opens or creates the directory and its secret, which is in `secret_dir` or else in the directory itself. A new
    /// secret is drawn from the entropy of `machine`.
    ///
    /// Returns `None` if the directory or the secret cannot be created, or if the secret cannot be read. The engine
    /// then works without a cache and compiles each component at each start.
    ///
    /// # Errors
    /// A directory or the secret belongs to another user, is accessible to other users, or is not valid.
    pub(crate) fn open(dir: &Path, secret_dir: Option<&Path>, machine: &Machine) -> Result<Option<Self>, EngineError> {
        let secret_dir = secret_dir.unwrap_or(dir);
        if !open_dir(dir)? || !open_dir(secret_dir)? {
            return Ok(None);
        }
        match load_or_create_secret(secret_dir, machine) {
            Ok(secret) => Ok(Some(Self { dir: dir.to_owned(), secret })),
            Err(SecretError::Refused(reason)) => Err(EngineError::Cache { path: path_text(secret_dir), reason }),
            Err(SecretError::Failed(error)) => {
                tracing::warn!("compiled plugins are not cached: secret in {}: {error}", secret_dir.display());
                Ok(None)
            }
        }
    }

    /// Returns true if an entry exists. Its HMAC is only checked when the entry is used.
    pub(crate) fn contains(&self, engine: &wasmtime::Engine, profile: Hash, digest: Hash) -> bool {
        self.entry(entry_key(engine, profile, digest)).is_file()
    }

    fn entry(&self, key: Hash) -> PathBuf {
        self.dir.join(format!("{}.aot", key.to_hex()))
    }

    /// Returns the component of a cache entry. Returns `None` if the entry does not exist or cannot be used.
    pub(crate) fn read(&self, engine: &wasmtime::Engine, key: Hash) -> Option<Component> {
        let path = self.entry(key);
        match read_used(&path) {
            Ok(entry) => match self.verified_code(&entry, key) {
                Some(code) => match load(engine, code) {
                    Ok(component) => return Some(component),
                    Err(error) => tracing::debug!("cached code in {} cannot be loaded: {error:#}", path.display()),
                },
                None => tracing::warn!("cached code in {} is damaged; compiling it again", path.display()),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("cached code in {} cannot be read: {error}", path.display()),
        }
        None
    }

    /// Compiles a component and stores its entry.
    pub(crate) fn compile(&self, engine: &wasmtime::Engine, key: Hash, bytes: &[u8]) -> wasmtime::Result<Component> {
        let component = code_size::compile(engine, bytes)?;
        // If the entry cannot be written, for example on a full disk, the component is compiled again at the
        // next start.
        let path = self.entry(key);
        let stored = self.store_entry(&path, key, &component.serialize()?);
        if let Err(error) = &stored {
            tracing::warn!("compiled code cannot be written to {}: {error}", path.display());
        }
        match size::remove_unused(&self.dir, MAX_BYTES, KEPT, stored.ok()) {
            Ok(removed) if removed.is_empty() => {}
            Ok(removed) => tracing::debug!("{} entries of compiled code were removed", removed.len()),
            Err(error) => tracing::warn!("{} cannot be reduced to its limit: {error}", self.dir.display()),
        }
        Ok(component)
    }

    /// Returns the number of entries with a valid HMAC, and the files of all other entries.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub(crate) fn check_entries(&self) -> std::io::Result<(u64, Vec<PathBuf>)> {
        let (mut whole, mut damaged) = (0, Vec::new());
        for entry in std::fs::read_dir(&self.dir)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "aot") {
                continue;
            }
            let key = path.file_stem().and_then(|stem| stem.to_str()).and_then(Hash::from_hex);
            match open_own_file(&path).and_then(read_all) {
                Ok(bytes) if key.is_some_and(|key| self.verified_code(&bytes, key).is_some()) => whole += 1,
                // An earlier program wrote this entry under another key. The entry is neither used nor damaged.
                Ok(bytes) if bytes.starts_with(MAGIC) => {}
                // Another process removed the entry in the meantime.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                _ => damaged.push(path),
            }
        }
        damaged.sort();
        Ok((whole, damaged))
    }

    /// Writes an entry and returns its modification time.
    fn store_entry(&self, path: &Path, key: Hash, code: &[u8]) -> std::io::Result<SystemTime> {
        let mut file = tempfile::Builder::new().prefix(size::TEMPORARY).tempfile_in(&self.dir)?;
        file.write_all(&self.header(key, code))?;
        file.write_all(code)?;
        file.as_file().sync_all()?;
        file.persist(path)?.metadata()?.modified()
    }

    fn header(&self, key: Hash, code: &[u8]) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[HMAC_BYTES..].copy_from_slice(&authenticated_header(key));
        // The HMAC covers the concatenation of the parts. All parts except the last have a fixed length, so two
        // different lists of parts never have the same concatenation.
        let code = hmac_sha256(&self.secret, &[&header[HMAC_BYTES..], code]);
        header[..HMAC_BYTES].copy_from_slice(&code);
        header
    }

    /// Returns the compiled code of an entry. Returns `None` if the entry is incomplete, has another key than `wanted`,
    /// or was not written with the secret of this user.
    fn verified_code<'e>(&self, entry: &'e [u8], wanted: Hash) -> Option<&'e [u8]> {
        let (code, authenticated) = entry.split_at_checked(HMAC_BYTES)?;
        let compiled = authenticated.strip_prefix(&authenticated_header(wanted))?;
        // The comparison takes the same time for every HMAC.
        hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &self.secret), authenticated, code).ok()?;
        Some(compiled)
    }
}

/// Reads an entry and records that it was used.
fn read_used(path: &Path) -> std::io::Result<Vec<u8>> {
    let entry = open_own_file(path)?;
    // A directory without write access still serves its entries.
    if let Err(error) = size::mark_used(&entry) {
        tracing::debug!("use of {} cannot be recorded: {error}", path.display());
    }
    read_all(entry)
}

/// Returns the part of an entry between HMAC and compiled code.
fn authenticated_header(key: Hash) -> [u8; HEADER_BYTES - HMAC_BYTES] {
    let mut header = [0; HEADER_BYTES - HMAC_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&LAYOUT.to_le_bytes());
    header[12..].copy_from_slice(&key.0);
    header
}

/// Creates a directory for this user alone, or checks one that exists. Returns false if it cannot be created.
///
/// # Errors
/// The directory belongs to another user, or other users may write to it.
fn open_dir(dir: &Path) -> Result<bool, EngineError> {
    let refuse = |reason: String| EngineError::Cache { path: path_text(dir), reason };
    if let Err(error) = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        tracing::warn!("compiled plugins are not cached: directory {} cannot be created: {error}", dir.display());
        return Ok(false);
    }
    // The metadata are read from the path itself, so a symbolic link is refused. The target of a link could be
    // replaced after this check.
    let meta = std::fs::symlink_metadata(dir).map_err(|error| refuse(error.to_string()))?;
    if !meta.is_dir() {
        return Err(refuse("it is not a directory".to_owned()));
    }
    check_ownership(&meta, 0o022).map_err(|reason| refuse(format!("{reason}; run chmod 700 on it")))?;
    Ok(true)
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// HMAC-SHA-256 over the concatenated parts. If parts have variable lengths, the caller must make sure that the
/// concatenation is unambiguous.
fn hmac_sha256(secret: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut code = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret));
    parts.iter().for_each(|part| code.update(part));
    code.sign().as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Key of an entry: hash of the component's digest, the profile, and the settings of this machine and engine.
pub(crate) fn entry_key(engine: &wasmtime::Engine, profile: Hash, digest: Hash) -> Hash {
    use std::hash::{Hash as _, Hasher};
    // Hasher that only collects its input. The output of the standard hasher cannot be used as a key, because it may
    // change between releases of Rust.
    struct InputCollector(Vec<u8>);
    impl Hasher for InputCollector {
        fn finish(&self) -> u64 {
            0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }
    let mut machine = InputCollector(Vec::new());
    engine.precompile_compatibility_hash().hash(&mut machine);
    Hash::of(&[&LAYOUT.to_le_bytes(), &digest.0, &profile.0, &machine.0])
}

#[expect(unsafe_code, reason = "the engine cannot verify compiled code; this module verifies it first")]
fn load(engine: &wasmtime::Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` requires unchanged output of `Component::serialize`. `code` comes from an entry in memory,
    // and the HMAC over the entry's content and key was just verified. Only this user can read the secret of the HMAC,
    // and only `store_entry` writes entries with this secret. The engine itself checks its version and settings.
    unsafe { Component::deserialize(engine, code) }
}
