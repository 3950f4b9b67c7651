//! `file-digest`: compares the SHA-256 of a file in a granted directory.
//!
//! The path of the file is the `external_ref` of the recorded change or, without an `external_ref`, the `resource_id`
//! of the change. The path is a path inside the guest, such as `/outbox/1.txt`. The expected digest is the recorded
//! `version` or, without a `version`, the recorded `etag`. A digest has 64 hexadecimal digits, optionally after
//! `sha256:`. If the recorded change deleted the file, the file must be absent.

use std::fs::File;
use std::io::{ErrorKind, Read};

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use latchwork_core::model::effect::StateChange;
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::Hash;
use latchwork_engine::VerifyResult;
use latchwork_engine::capability::open_dirs::OpenDirs;
use latchwork_engine::os::folders;

use super::resource_verifier::{ResourceVerifier, VerificationRequest, unavailable};

/// Number of bytes read per block.
const BLOCK_BYTES: usize = 256 << 10;

/// Verifier that compares the digests of files.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileDigest;

#[async_trait]
impl ResourceVerifier for FileDigest {
    fn name(&self) -> &'static str {
        "file-digest"
    }

    async fn verify(&self, looking: &VerificationRequest<'_>) -> Result<VerifyResult, Failure> {
        let (change, dirs) = (looking.change.clone(), looking.dirs.clone());
        let machine = looking.machine.clone();
        let until_us = machine.boot_us().saturating_add(u64::from(looking.timeout_ms) * 1_000);
        let is_over = move || machine.boot_us() >= until_us;
        // A separate thread reads the file, because reading blocks. `compare_digest` checks the timeout itself and ends
        // when the time is over.
        let looked = tokio::task::spawn_blocking(move || compare_digest(&change, &dirs, &is_over));
        looked.await.map_err(|error| unavailable(format!("it could not be looked at: {error}")))?
    }
}

fn compare_digest(change: &StateChange, dirs: &OpenDirs, is_over: &dyn Fn() -> bool) -> Result<VerifyResult, Failure> {
    let name = change.external_ref.as_deref().unwrap_or(&change.resource_id);
    let recorded = recorded_digest(change);
    let is_deleted = change.operation == "delete";
    if recorded.is_none() && !is_deleted {
        return Err(unavailable(format!("no SHA-256 of {name} was recorded, neither as its version nor as its etag")));
    }
    let (folder, path) = dirs
        .locate(name)
        .ok_or_else(|| unavailable(format!("{name} is in no directory that the plugin is granted")))?;
    let folder = folder.map_err(|error| unavailable(format!("the directory of {name} cannot be opened: {error}")))?;
    // Opens the file below the directory that the plugin has, without following links. A link could lead to a file
    // outside the directory. Checking for a link before opening would not be safe, because a file could be replaced by
    // a link after the check.
    let found =
        folders::open_file_beneath(folder, path).and_then(|file| file.map(|file| hash(file, is_over)).transpose());
    match (found, recorded) {
        (Err(error), _) if folders::is_link(&error) => {
            Ok(VerifyResult::Mismatch(format!("{name} leads through a link")))
        }
        (Err(error), _) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(match is_deleted {
                true => VerifyResult::Confirmed,
                false => VerifyResult::Mismatch(format!("{name} is not there any more")),
            })
        }
        (Err(error), _) => Err(unavailable(format!("{name} cannot be read: {error}"))),
        (Ok(_), _) if is_deleted => Ok(VerifyResult::Mismatch(format!("{name} is there again"))),
        (Ok(None), _) => Ok(VerifyResult::Mismatch(format!("{name} is not a file any more"))),
        (Ok(Some(found)), Some(recorded)) if found == recorded => Ok(VerifyResult::Confirmed),
        (Ok(Some(found)), recorded) => {
            let recorded = recorded.map(Hash::to_hex).unwrap_or_default();
            Ok(VerifyResult::Mismatch(format!("{name} has the SHA-256 {}, recorded was {recorded}", found.to_hex())))
        }
    }
}

/// Returns the recorded SHA-256.
fn recorded_digest(change: &StateChange) -> Option<Hash> {
    let read = |text: &Option<String>| {
        let text = text.as_deref()?.trim_matches('"');
        Hash::from_hex(&text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase())
    };
    read(&change.version).or_else(|| read(&change.etag))
}

fn hash(mut file: File, is_over: &dyn Fn() -> bool) -> std::io::Result<Hash> {
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        if is_over() {
            return Err(ErrorKind::TimedOut.into());
        }
        match file.read(&mut block)? {
            0 => return Ok(Hash(hasher.finalize().into())),
            n => hasher.update(&block[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use latchwork_engine::capability::grants::DirGrant;

    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn change(name: &str, operation: &str, version: Option<&str>) -> StateChange {
        StateChange {
            resource_type: "file".into(),
            resource_id: name.into(),
            operation: operation.into(),
            version: version.map(str::to_owned),
            etag: None,
            external_ref: None,
        }
    }

    /// I39: the verifier reads the file from the disk. A file outside the granted directories is not read. If the state
    /// of the file cannot be determined, the result is an error and not a mismatch.
    #[test]
    fn file_digest_is_confirmed_or_mismatched() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("in");
        std::fs::create_dir_all(inside.join("folder")).unwrap();
        std::fs::write(inside.join("a"), "abc").unwrap();
        std::fs::write(dir.path().join("secret"), "abc").unwrap();
        symlink(dir.path().join("secret"), inside.join("link")).unwrap();
        symlink(dir.path(), inside.join("out")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, inside.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
        let dirs = OpenDirs::open(&[DirGrant { host: inside, guest: "/d".into(), write: true }]);
        let look = |change: StateChange| compare_digest(&change, &dirs, &|| false);
        let sha256 = format!("sha256:{ABC}");
        assert_eq!(look(change("/d/a", "create", Some(&sha256))), Ok(VerifyResult::Confirmed));
        assert_eq!(look(change("/d/a", "create", Some(&ABC.to_uppercase()))), Ok(VerifyResult::Confirmed));
        let by_etag = StateChange { etag: Some(format!("\"{ABC}\"")), ..change("/d/a", "create", Some("7")) };
        assert_eq!(look(by_etag), Ok(VerifyResult::Confirmed));
        assert_eq!(look(change("/d/none", "delete", None)), Ok(VerifyResult::Confirmed));
        for (changed, says) in [
            (change("/d/a", "create", Some(&ABC.replace('b', "c"))), "has the SHA-256"),
            (change("/d/none", "create", Some(ABC)), "not there any more"),
            (change("/d/a", "delete", None), "there again"),
            (change("/d/folder", "create", Some(ABC)), "not a file"),
            (change("/d/pipe", "create", Some(ABC)), "not a file"),
            (change("/d/link", "create", Some(ABC)), "through a link"),
            (change("/d/link", "delete", None), "through a link"),
            (change("/d/out/secret", "create", Some(ABC)), "through a link"),
        ] {
            let found = look(changed.clone());
            assert!(
                matches!(&found, Ok(VerifyResult::Mismatch(text)) if text.contains(says)),
                "{changed:?}: {found:?}"
            );
        }
        for unknown in [
            change("/d/a", "create", None),
            change("/d/a", "create", Some("7")),
            change("/d/../secret", "create", Some(ABC)),
            change("/elsewhere/a", "create", Some(ABC)),
        ] {
            assert!(look(unknown.clone()).is_err(), "{unknown:?}");
        }
        assert!(
            super::compare_digest(&change("/d/a", "create", Some(ABC)), &dirs, &|| true).is_err(),
            "its time is over"
        );
    }

    /// I39, I196: the verifier reads in the directory that was opened when the plugin was loaded. A link that later takes
    /// the place of the directory, or of a folder in it, leads to no file outside.
    #[test]
    fn link_in_place_of_a_directory_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (granted, moved, outside) =
            (dir.path().join("granted"), dir.path().join("moved"), dir.path().join("outside"));
        for (folder, text) in [(&granted, "abc"), (&outside, "secret")] {
            std::fs::create_dir_all(folder.join("sub")).unwrap();
            std::fs::write(folder.join("a"), text).unwrap();
            std::fs::write(folder.join("sub/a"), text).unwrap();
        }
        let dirs = OpenDirs::open(&[DirGrant { host: granted.clone(), guest: "/d".into(), write: true }]);
        let look = |name: &str| compare_digest(&change(name, "create", Some(ABC)), &dirs, &|| false);
        std::fs::rename(&granted, &moved).unwrap();
        symlink(&outside, &granted).unwrap();
        assert_eq!(look("/d/a"), Ok(VerifyResult::Confirmed));
        assert_eq!(look("/d/sub/a"), Ok(VerifyResult::Confirmed));
        std::fs::rename(moved.join("sub"), dir.path().join("sub")).unwrap();
        symlink(outside.join("sub"), moved.join("sub")).unwrap();
        let through_link = VerifyResult::Mismatch("/d/sub/a leads through a link".to_owned());
        assert_eq!(look("/d/sub/a"), Ok(through_link));
    }
}
