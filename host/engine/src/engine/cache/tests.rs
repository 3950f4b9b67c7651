//! Tests of the cache with real components.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use super::secret::SECRET_FILE;
use super::*;

fn open(dir: &Path) -> Result<Option<CodeCache>, EngineError> {
    CodeCache::open(dir, None, &Machine::system())
}

const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

fn engine() -> (wasmtime::Engine, Hash) {
    let (config, profile) = crate::engine::profile::build_profile(latchwork_core::model::manifest::PluginKind::Step);
    (wasmtime::Engine::new(&config).unwrap(), profile)
}

fn load_or_compile(cache: &CodeCache, engine: &wasmtime::Engine, key: Hash) -> Component {
    cache.read(engine, key).unwrap_or_else(|| cache.compile(engine, key, EMPTY).unwrap())
}

fn only_entry(dir: &Path) -> PathBuf {
    let found = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let entries: Vec<_> = found.filter(|path| !path.ends_with(SECRET_FILE)).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

/// The HMAC is HMAC-SHA-256 as in RFC 4231, test case 1. A change of the algorithm would make the entries of
/// earlier programs invalid.
#[test]
fn hmac_matches_rfc_4231() {
    // HMAC pads a shorter secret with zeros.
    let mut secret = [0; 32];
    secret[..20].fill(0x0b);
    let known = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
    assert_eq!(hex::encode(hmac_sha256(&secret, &[b"Hi ", b"There"])), known);
}

#[test]
fn damaged_cache_entry_is_compiled_again() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir.path().join("compiled")).unwrap().unwrap();
    let (engine, profile) = engine();
    let digest = Hash::of(&[EMPTY]);
    let load = || load_or_compile(&cache, &engine, entry_key(&engine, profile, digest));
    load();
    let path = only_entry(&cache.dir);
    let good = std::fs::read(&path).unwrap();
    let key = entry_key(&engine, profile, digest);
    assert!(cache.verified_code(&good, key).is_some());
    assert!(cache.verified_code(&good, Hash::default()).is_none(), "an entry is only valid for its own key");
    let cuts = [0, 1, HEADER_BYTES - 1, HEADER_BYTES, good.len() - 1].map(|len| good[..len].to_vec());
    let flips = [0, 9, 20, 50, HEADER_BYTES + 7, good.len() - 1].map(|at| {
        let mut bad = good.clone();
        bad[at] ^= 1;
        bad
    });
    for bad in cuts.into_iter().chain(flips) {
        assert!(cache.verified_code(&bad, key).is_none());
        std::fs::write(&path, &bad).unwrap();
        load();
        assert_eq!(std::fs::read(only_entry(&cache.dir)).unwrap().len(), good.len());
        assert!(cache.verified_code(&std::fs::read(&path).unwrap(), key).is_some());
    }
}

/// I268: reading an entry records its use, and storing an entry removes old entries above the limit.
#[test]
fn cache_records_uses_and_keeps_its_limit() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir.path().join("compiled")).unwrap().unwrap();
    let (engine, profile) = engine();
    let key = |text: &[u8]| entry_key(&engine, profile, Hash::of(&[text]));
    load_or_compile(&cache, &engine, key(EMPTY));
    let long_ago = SystemTime::UNIX_EPOCH;
    let set_used = |path: &Path| File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    let used = only_entry(&cache.dir);
    set_used(&used);
    assert!(cache.read(&engine, key(EMPTY)).is_some());
    assert!(std::fs::metadata(&used).unwrap().modified().unwrap() > long_ago);
    // The file takes no space.
    let old = cache.dir.join("old.aot");
    File::create(&old).unwrap().set_len(MAX_BYTES + 1).unwrap();
    set_used(&old);
    cache.compile(&engine, key(b"other"), EMPTY).unwrap();
    assert!(!old.exists() && used.exists());
}

/// I268: an entry that is a link is compiled again, and the target of the link is unchanged.
#[test]
fn link_in_the_cache_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir.path().join("compiled")).unwrap().unwrap();
    let (engine, profile) = engine();
    let key = entry_key(&engine, profile, Hash::of(&[EMPTY]));
    let target = dir.path().join("target");
    std::fs::write(&target, "text").unwrap();
    let earlier = SystemTime::UNIX_EPOCH;
    File::options().write(true).open(&target).unwrap().set_modified(earlier).unwrap();
    std::os::unix::fs::symlink(&target, cache.entry(key)).unwrap();
    load_or_compile(&cache, &engine, key);
    assert_eq!(std::fs::metadata(&target).unwrap().modified().unwrap(), earlier);
    assert!(std::fs::symlink_metadata(cache.entry(key)).unwrap().is_file());
}

#[test]
fn cache_directory_writable_by_others_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("compiled");
    open(&path).unwrap().unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(open(&path).is_err_and(|error| error.to_string().contains("chmod 700")));
    std::fs::remove_dir_all(&path).unwrap();
    std::os::unix::fs::symlink(dir.path(), &path).unwrap();
    assert!(open(&path).is_err());
}

/// I229: a user who can only write to the entries does not have the secret that a forged entry would need.
#[test]
fn secret_is_kept_in_its_own_directory() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, state) = (temp.path().join("compiled"), temp.path().join("state/latchwork"));
    let open = || CodeCache::open(&dir, Some(&state), &Machine::system());
    let cache = open().unwrap().unwrap();
    assert_eq!(open().unwrap().unwrap().secret, cache.secret, "the secret does not change");
    let (engine, profile) = engine();
    load_or_compile(&cache, &engine, entry_key(&engine, profile, Hash::of(&[EMPTY])));
    let names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.len() == 1 && names[0] != SECRET_FILE, "{names:?}");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&state), mode(&state.join(SECRET_FILE))), (0o700, 0o600));
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(open().is_err_and(|error| error.to_string().contains("state/latchwork")));
}

#[test]
fn entry_of_an_earlier_layout_is_neither_used_nor_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir.path().join("compiled")).unwrap().unwrap();
    let earlier = [MAGIC.as_slice(), &2_u32.to_le_bytes(), &[7; 96]].concat();
    std::fs::write(cache.dir.join(format!("{}.aot", Hash::default().to_hex())), earlier).unwrap();
    assert_eq!(cache.check_entries().unwrap(), (0, vec![]));
}

/// A check of the entries reads no file that the cache did not write, and does not wait for a pipe.
#[test]
fn links_and_pipes_in_place_of_entries_are_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(&dir.path().join("compiled")).unwrap().unwrap();
    let (engine, profile) = engine();
    let key = entry_key(&engine, profile, Hash::of(&[EMPTY]));
    load_or_compile(&cache, &engine, key);
    assert_eq!(cache.check_entries().unwrap(), (1, vec![]));
    let elsewhere = dir.path().join("elsewhere");
    std::fs::rename(cache.entry(key), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, cache.entry(key)).unwrap();
    let pipe = cache.dir.join("f.aot");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let mut damaged = vec![cache.entry(key), pipe];
    damaged.sort();
    assert_eq!(cache.check_entries().unwrap(), (0, damaged));
}

#[test]
fn cache_entry_with_foreign_secret_is_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let open_named = |name: &str| open(&dir.path().join(name)).unwrap().unwrap();
    let (mine, other) = (open_named("mine"), open_named("other"));
    let (engine, profile) = engine();
    let digest = Hash::of(&[EMPTY]);
    load_or_compile(&other, &engine, entry_key(&engine, profile, digest));
    let planted = std::fs::read(only_entry(&other.dir)).unwrap();
    let key = entry_key(&engine, profile, digest);
    assert!(other.verified_code(&planted, key).is_some());
    assert!(mine.verified_code(&planted, key).is_none(), "complete and for this key, but written with another secret");
    // An entry with a plain hash in place of the HMAC is refused, because every user can compute a plain hash.
    let mut forged = mine.header(key, b"code").to_vec();
    forged.extend_from_slice(b"code");
    assert!(mine.verified_code(&forged, key).is_some());
    forged[..HMAC_BYTES].copy_from_slice(&Hash::of(&[&key.0, b"code"]).0);
    assert!(mine.verified_code(&forged, key).is_none());
}

#[test]
fn cache_secret_readable_by_others_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("compiled");
    let first = open(&path).unwrap().unwrap();
    assert_eq!(open(&path).unwrap().unwrap().secret, first.secret, "the secret does not change");
    let secret = path.join(SECRET_FILE);
    assert_eq!(std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(open(&path).is_err_and(|error| error.to_string().contains("other users have access")));
    std::fs::remove_file(&secret).unwrap();
    std::fs::write(dir.path().join("known"), [0; 32]).unwrap();
    std::os::unix::fs::symlink(dir.path().join("known"), &secret).unwrap();
    assert!(open(&path).unwrap().is_none(), "a symbolic link is refused");
}

#[test]
fn cache_is_disabled_without_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    assert!(open(&dir.path().join("file/compiled")).unwrap().is_none());
}
