//! The simulated world of a case, which is built for each run and inspected afterwards.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use latchwork_core::encoding::canon;
use latchwork_core::model::ids::Hash;
use latchwork_engine::capability::grants::{DirGrant, Grants, HttpGrant, KvGrant, SecretPlace};
use latchwork_engine::capability::settings::PluginSettings;
use latchwork_engine::capability::{FolderFault, Interruption, ScratchFolders, Secrets};

use crate::check::tools::case::ToolCase;
use crate::check::tools::case_map::{Access, CaseMap, PausedCall};
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::stub_servers::{ReceivedRequest, StubServers};

/// Hashes of all files and map entries of a world, by name.
pub(super) type WorldSnapshot = BTreeMap<String, Hash>;

/// Servers, directories and a key-value map.
pub(super) struct World {
    /// Holds the granted folders. `None` if no folder is granted.
    dir: Option<tempfile::TempDir>,
    servers: Arc<StubServers>,
    map: Arc<CaseMap>,
    folders: Arc<ScratchFolders>,
    settings: PluginSettings,
}

impl World {
    /// Builds the initial world of the case. The grants come from the plugin's entry in the configuration. If there is
    /// no entry, the plugin gets the grants that the case needs.
    pub(super) fn of(
        case: &ToolCase,
        entry: &PluginSettings,
        is_configured: bool,
        is_stable: bool,
    ) -> std::io::Result<Self> {
        let mut grants = entry.grants.clone();
        if !is_configured {
            grants = needed_grants(case, is_stable, grants);
        }
        let given = std::mem::take(&mut grants.dirs);
        let dir = (!given.is_empty()).then(temporary_folder).transpose()?;
        let parent = dir.as_ref().map_or(Path::new(""), |dir| dir.path());
        for (number, grant) in given.into_iter().enumerate() {
            let host = parent.join(number.to_string());
            std::fs::create_dir_all(&host)?;
            for (file, text) in case.dirs.get(&grant.guest).into_iter().flatten() {
                let path = host.join(file);
                if file.contains('/') {
                    path.parent().map(std::fs::create_dir_all).transpose()?;
                }
                std::fs::write(path, text)?;
            }
            grants.dirs.push(DirGrant { host, ..grant });
        }
        let held = case.kv.iter().flatten().map(|(key, value)| (key.clone(), value.clone().into_bytes()));
        let map = Arc::new(CaseMap::new(held.collect()));
        let servers = Arc::new(StubServers::of(case));
        let folders = Arc::new(ScratchFolders::default());
        let mut config = entry.config.clone();
        config.extend(case.config.clone());
        let settings = PluginSettings {
            grants,
            config,
            secrets: Arc::new(CaseSecrets(case.secrets.clone())),
            kv: map.clone(),
            http_stub: Some(servers.clone()),
            scratch: Some(folders.clone()),
            ..entry.clone()
        };
        Ok(Self { dir, servers, map, folders, settings })
    }

    pub(super) fn settings(&self) -> PluginSettings {
        self.settings.clone()
    }

    /// Gives each of these names a value in the configuration of the plugin.
    pub(super) fn configure(&mut self, names: &[String], value: &Value) {
        self.settings.config.extend(names.iter().map(|name| (name.clone(), value.clone())));
    }

    /// Gives the secrets these values. The grants stay.
    pub(super) fn set_secrets(&mut self, values: BTreeMap<String, String>) {
        self.settings.secrets = Arc::new(CaseSecrets(values));
    }

    /// Kills the host of the next call before an operation that may change the world. `operations` is the number of
    /// such operations that the call makes before the kill. The returned [`Interruption`] shows afterwards if the call
    /// reached the next operation.
    pub(super) fn interrupt_after(&mut self, operations: u32) -> Arc<Interruption> {
        let interruption = Arc::new(Interruption::after(operations));
        self.settings.interruption = Some(interruption.clone());
        interruption
    }

    /// Starts the host again.
    pub(super) fn restart(&mut self) {
        self.settings.interruption = None;
    }

    pub(super) fn set_faults(&self, fault: FaultProfile) {
        self.map.set_fault(fault);
        self.folders.set_fault(match fault {
            FaultProfile::NoFolder => FolderFault::Broken,
            FaultProfile::FolderChangeRefused(number) => FolderFault::ChangeRefused(number),
            _ => FolderFault::Fair,
        });
        *self.servers.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Lets the next call wait before this access to the map.
    pub(super) fn pause_before(&self, access: Access) -> PausedCall {
        self.map.pause_before(access)
    }

    /// Returns the requests received since the last call of this function.
    pub(super) fn received(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.servers.received.lock().unwrap_or_else(PoisonError::into_inner).since)
    }

    /// Returns true if the case had no answer for a request of this run.
    pub(super) fn is_unanswered(&self) -> bool {
        self.servers.received.lock().unwrap_or_else(PoisonError::into_inner).is_unanswered
    }

    /// Returns true if the map was read or written since the last call of this function.
    pub(super) fn was_map_used(&self) -> bool {
        self.map.is_used.swap(false, Ordering::Relaxed)
    }

    /// Returns true if a file was opened, listed or changed since the last call of this function.
    pub(super) fn were_folders_used(&self) -> bool {
        self.folders.was_used()
    }

    /// Returns true if a fault of the map ever made an access fail.
    pub(super) fn is_map_refused(&self) -> bool {
        self.map.is_refused.load(Ordering::Relaxed)
    }

    /// Returns true if a fault of the folders ever made an access fail.
    pub(super) fn is_folder_refused(&self) -> bool {
        self.folders.is_refused()
    }

    /// Describes an access of a call to its map or to a server. Returns `None` if the call made no such access.
    pub(super) fn asked(&self) -> Option<&'static str> {
        if self.map.is_used.load(Ordering::Relaxed) {
            return Some("reads its map");
        }
        (!self.received().is_empty()).then_some("asks a server")
    }

    /// Returns true if an entry of the map has this id in its name, and this version in its value.
    pub(super) fn has_version(&self, id: &str, version: Option<&str>) -> bool {
        let Some(version) = version.filter(|version| !version.is_empty()) else { return false };
        let is_at_version =
            |(name, value): (&String, &Vec<u8>)| name.contains(id) && String::from_utf8_lossy(value).contains(version);
        self.map_entries().iter().any(is_at_version)
    }

    pub(super) fn state(&self) -> WorldSnapshot {
        snapshot(&self.contents())
    }

    /// Returns the contents of all files and map entries.
    pub(super) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let mut contents = BTreeMap::new();
        for grant in &self.settings.grants.dirs {
            collect_files(&grant.host, &grant.guest, &mut contents);
        }
        contents.extend(self.map_entries().into_iter().map(|(key, value)| (format!("map {key}"), value)));
        contents
    }

    /// Returns the granted folders, under their paths in the guest.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.settings.grants.dirs.iter().map(|grant| grant.guest.as_str())
    }

    /// Returns the entries of the map.
    pub(super) fn map_entries(&self) -> BTreeMap<String, Vec<u8>> {
        self.map.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes these files and map entries, as another party would. The names are those of [`World::state`].
    pub(super) fn remove(&self, names: &[String]) -> std::io::Result<()> {
        for name in names {
            if let Some(key) = name.strip_prefix("map ") {
                self.map.entries.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
            } else if let Some(file) = self.file(name) {
                std::fs::remove_file(file)?;
            }
        }
        Ok(())
    }

    /// Replaces the contents of all files and of all entries of the map, as another party would.
    pub(super) fn replace_all(&self, contents: &[u8]) -> std::io::Result<()> {
        for file in self.contents().keys().filter_map(|name| self.file(name)) {
            std::fs::write(file, contents)?;
        }
        let mut entries = self.map.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.values_mut().for_each(|value| *value = contents.to_vec());
        Ok(())
    }

    /// Replaces the contents of these entries of the map. The names are those of [`World::state`].
    pub(super) fn replace(&self, names: &[String], contents: &[u8]) {
        let mut entries = self.map.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for key in names.iter().filter_map(|name| name.strip_prefix("map ")) {
            entries.insert(key.to_owned(), contents.to_vec());
        }
    }

    /// Returns the path of a file of a granted folder.
    fn file(&self, name: &str) -> Option<PathBuf> {
        // A granted folder can lie inside another one. The files of the inner one are not in the outer one.
        let grant = self.settings.grants.dirs.iter().filter(|grant| is_in(name, &grant.guest));
        let grant = grant.max_by_key(|grant| grant.guest.len())?;
        Some(grant.host.join(&name[grant.guest.len() + 1..]))
    }

    /// Removes the paths of this run from a text, because these paths differ in every run.
    pub(super) fn strip_paths(&self, text: &str) -> String {
        match &self.dir {
            Some(dir) => text.replace(&*dir.path().to_string_lossy(), ""),
            None => text.to_owned(),
        }
    }
}

/// Folder of files that are kept in memory.
const MEMORY_FOLDER: &str = "/dev/shm";
/// Free space in bytes that the folder in memory must have. Containers often have less.
const MEMORY_FREE_MIN: u64 = 1 << 30;

/// Creates a temporary folder, in memory if there is room and `TMPDIR` is not set. A check builds thousands of worlds, and
/// several times as fast in memory as on a disk.
fn temporary_folder() -> std::io::Result<tempfile::TempDir> {
    match std::env::var_os("TMPDIR") {
        Some(_) => tempfile::tempdir(),
        None => folder_in(Path::new(MEMORY_FOLDER)),
    }
}

/// Creates a temporary folder in another one if that has room, else in the usual place.
fn folder_in(memory: &Path) -> std::io::Result<tempfile::TempDir> {
    let has_room =
        rustix::fs::statvfs(memory).is_ok_and(|space| space.f_bavail.saturating_mul(space.f_frsize) >= MEMORY_FREE_MIN);
    let in_memory = has_room.then(|| tempfile::tempdir_in(memory)).and_then(Result::ok);
    in_memory.map_or_else(tempfile::tempdir, Ok)
}

/// Returns true if the name of an entry is that of a file in a folder of the guest.
pub(super) fn is_in(name: &str, folder: &str) -> bool {
    name.strip_prefix(folder).is_some_and(|path| path.starts_with('/'))
}

/// Returns the state of a world with these contents.
pub(super) fn snapshot(contents: &BTreeMap<String, Vec<u8>>) -> WorldSnapshot {
    contents.iter().map(|(name, content)| (name.clone(), content_hash(content))).collect()
}

/// Returns the hash of a content. Of a JSON object or array that has a canonical form, only this form counts.
fn content_hash(content: &[u8]) -> Hash {
    let is_json = content.trim_ascii_start().starts_with(b"{") || content.trim_ascii_start().starts_with(b"[");
    match canon::canonicalize(content) {
        Ok(canonical) if is_json => Hash::of(&[&canonical]),
        _ => Hash::of(&[content]),
    }
}

fn collect_files(dir: &Path, guest: &str, contents: &mut BTreeMap<String, Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = format!("{guest}/{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect_files(&entry.path(), &name, contents),
            Ok(kind) if kind.is_file() => {
                contents.insert(name, std::fs::read(entry.path()).unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// Methods that the servers of a case accept from an operator that declares external effects.
const CHANGING_METHODS: [http::Method; 4] =
    [http::Method::POST, http::Method::PUT, http::Method::PATCH, http::Method::DELETE];

/// Returns the grants that a case needs if the plugin has no configuration entry. `is_stable` is true if the operator
/// is declared `stable`.
fn needed_grants(case: &ToolCase, is_stable: bool, mut grants: Grants) -> Grants {
    // The given HTTP grants only served to load the plugin. Grants for the servers of the case replace them.
    grants.http.clear();
    for canned in &case.http {
        let origin = canned.matcher.url.parse().ok().and_then(|uri| latchwork_engine::capability::origin_of(&uri));
        let Some(origin) = origin.filter(|origin| grants.http.iter().all(|grant| grant.origin != *origin)) else {
            continue;
        };
        grants.http.push(HttpGrant {
            methods: CHANGING_METHODS.into_iter().chain(HttpGrant::DEFAULT_METHODS).collect(),
            // Stands for the grant of an administrator, which states that a request to a model changes nothing.
            read_methods: if is_stable { vec![http::Method::POST] } else { vec![] },
            secrets: case.secrets.keys().cloned().collect(),
            secret_places: vec![SecretPlace::Anywhere],
            is_address_only: false,
            ..HttpGrant::read_only(origin)
        });
    }
    let dir = |guest: &String| DirGrant { host: Default::default(), guest: guest.clone(), write: true };
    grants.dirs = case.dirs.keys().map(dir).collect();
    grants.secrets = case.secrets.keys().cloned().collect();
    grants.secrets_clear = case.secrets_clear;
    // A map belongs to the tool alone, so the tool gets a map even if the case does not mention one.
    grants.kv = Some(KvGrant::named("case"));
    grants
}

struct CaseSecrets(BTreeMap<String, String>);

impl Secrets for CaseSecrets {
    fn value(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }
}

/// Log output of a call.
#[derive(Clone, Default)]
pub(super) struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    pub(super) fn subscriber(&self) -> impl tracing::Subscriber + Send + Sync + 'static {
        let format = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
        format.without_time().with_ansi(false).with_writer(self.clone()).finish()
    }
}

impl Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for CapturedLog {
    type Writer = CapturedLog;
    fn make_writer(&self) -> CapturedLog {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_in_memory_only_if_there_is_a_place() {
        let memory = tempfile::tempdir().unwrap();
        let missing = folder_in(&memory.path().join("missing")).unwrap();
        assert!(missing.path().is_dir() && !missing.path().starts_with(memory.path()));
        let none = folder_in(Path::new("/proc")).unwrap();
        assert!(none.path().is_dir() && !none.path().starts_with("/proc"), "no room");
        assert!(folder_in(memory.path()).unwrap().path().starts_with(memory.path()));
    }
}
