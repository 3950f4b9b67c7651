//! The simulated world of a case, which is built for each run and inspected afterwards.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request, Response};
use tracing_subscriber::fmt::MakeWriter;

use latchwork_core::model::ids::Hash;
use latchwork_core::storage::map::{bytes_after_set, entry_bytes};
use latchwork_core::storage::{KeyValue, MapName, SetError, StoreError};
use latchwork_engine::capability::grants::{DirGrant, Grants, HttpGrant, KvGrant, Origin, SecretPlace};
use latchwork_engine::capability::settings::PluginSettings;
use latchwork_engine::capability::{CutOff, HttpStub, Secrets, StubFailure};

use crate::check::tools::case::{CannedResponse, ToolCase};

/// Simulated behaviour of the servers in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultProfile {
    /// Servers answer as the case defines.
    Fair,
    /// Servers answer every request with this status.
    Status(u16),
    /// Servers refuse connections.
    Refused,
    /// Servers receive requests and never answer them.
    Silent,
    /// Servers answer as the case defines, but refuse the world-changing request with this number, from 0, and every
    /// later one with status 422.
    RefusedFrom(usize),
    /// Servers answer as the case defines. The map does not answer.
    NoMap,
    /// Servers answer as the case defines. The map can be read only.
    ReadOnlyMap,
    /// Servers answer as the case defines. The map refuses the write with this number, from 0, or also every later one.
    WriteRefused { number: usize, and_later: bool },
}

/// A request that a server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns true if the request may change the server's state, judged by its method.
    pub(super) fn may_change_state(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }

    /// Returns true if the key occurs anywhere in the request.
    pub(super) fn contains_key(&self, key: &str) -> bool {
        let body = String::from_utf8_lossy(&self.body);
        self.url.contains(key) || body.contains(key) || self.headers.iter().any(|(_, value)| value.contains(key))
    }

    /// Returns the headers that contain the key.
    pub(super) fn keyed_headers<'r>(&'r self, key: &'r str) -> impl Iterator<Item = &'r (String, String)> {
        self.headers.iter().filter(move |(_, value)| value.contains(key))
    }

    /// Returns the parts of a request that must be equal in a repetition of the request under this key.
    pub(super) fn identity<'r>(&'r self, key: &'r str) -> (&'r str, &'r str, &'r [u8], Vec<&'r (String, String)>) {
        (&self.method, &self.url, &self.body, self.keyed_headers(key).collect())
    }
}

/// Hashes of all files and map entries of a world, by name.
pub(super) type State = BTreeMap<String, Hash>;

/// Servers, directories and a key-value map.
pub(super) struct World {
    dir: tempfile::TempDir,
    servers: Arc<StubServers>,
    map: Arc<CaseMap>,
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
        let dir = tempfile::tempdir()?;
        let mut grants = entry.grants.clone();
        if !is_configured {
            grants = needed_grants(case, is_stable, grants);
        }
        let given = std::mem::take(&mut grants.dirs);
        for (number, grant) in given.into_iter().enumerate() {
            let host = dir.path().join(number.to_string());
            std::fs::create_dir_all(&host)?;
            for (file, text) in case.dirs.get(&grant.guest).into_iter().flatten() {
                let path = host.join(file);
                path.parent().map(std::fs::create_dir_all).transpose()?;
                std::fs::write(path, text)?;
            }
            grants.dirs.push(DirGrant { host, ..grant });
        }
        let held = case.kv.iter().flatten().map(|(key, value)| (key.clone(), value.clone().into_bytes()));
        let map = Arc::new(CaseMap {
            entries: Mutex::new(held.collect()),
            is_used: false.into(),
            is_refused: false.into(),
            writes: 0.into(),
            fault: Mutex::new(FaultProfile::Fair),
        });
        let servers = Arc::new(StubServers {
            responses: case.http.clone(),
            weather: Mutex::new(FaultProfile::Fair),
            received: Mutex::default(),
        });
        let mut config = entry.config.clone();
        config.extend(case.config.clone());
        let settings = PluginSettings {
            grants,
            config,
            secrets: Arc::new(CaseSecrets(case.secrets.clone())),
            kv: map.clone(),
            http_stub: Some(servers.clone()),
            ..entry.clone()
        };
        Ok(Self { dir, servers, map, settings })
    }

    pub(super) fn settings(&self) -> PluginSettings {
        self.settings.clone()
    }

    /// Kills the host of the next call before the operation with this number, from 0, that may change the world. Returns
    /// what says whether there was such an operation.
    pub(super) fn cut_off_after(&mut self, operations: u32) -> Arc<CutOff> {
        let cut_off = Arc::new(CutOff::after(operations));
        self.settings.cut_off = Some(cut_off.clone());
        cut_off
    }

    /// Starts the host again.
    pub(super) fn restart(&mut self) {
        self.settings.cut_off = None;
    }

    pub(super) fn set_faults(&self, weather: FaultProfile) {
        *self.map.fault.lock().unwrap_or_else(PoisonError::into_inner) = weather;
        *self.servers.weather.lock().unwrap_or_else(PoisonError::into_inner) = weather;
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

    /// Returns true if a fault of the map ever made an access fail.
    pub(super) fn is_map_refused(&self) -> bool {
        self.map.is_refused.load(Ordering::Relaxed)
    }

    /// Returns what a call asked outside of the plugin, if anything.
    pub(super) fn asked(&self) -> Option<&'static str> {
        if self.map.is_used.load(Ordering::Relaxed) {
            return Some("reads its map");
        }
        (!self.received().is_empty()).then_some("asks a server")
    }

    pub(super) fn state(&self) -> State {
        let mut state = State::new();
        for grant in &self.settings.grants.dirs {
            files(&grant.host, &grant.guest, &mut state);
        }
        let map = self.map.entries.lock().unwrap_or_else(PoisonError::into_inner);
        state.extend(map.iter().map(|(key, value)| (format!("map {key}"), Hash::of(&[value]))));
        state
    }

    /// Removes these files and map entries, as another party would. The names are those of [`World::state`].
    pub(super) fn remove(&self, names: &[String]) -> std::io::Result<()> {
        for name in names {
            if let Some(key) = name.strip_prefix("map ") {
                self.map.entries.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
                continue;
            }
            let in_grant =
                |grant: &DirGrant| name.strip_prefix(&grant.guest)?.strip_prefix('/').map(|path| grant.host.join(path));
            if let Some(file) = self.settings.grants.dirs.iter().find_map(in_grant) {
                std::fs::remove_file(file)?;
            }
        }
        Ok(())
    }

    /// Removes the paths of this run from a text, because these paths differ in every run.
    pub(super) fn strip_paths(&self, text: &str) -> String {
        text.replace(&*self.dir.path().to_string_lossy(), "")
    }
}

fn files(dir: &Path, guest: &str, state: &mut State) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = format!("{guest}/{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path(), &name, state),
            Ok(kind) if kind.is_file() => {
                state.insert(name, Hash::of(&[&std::fs::read(entry.path()).unwrap_or_default()]));
            }
            _ => {}
        }
    }
}

/// Methods that the servers of a case accept from an operator that declares external effects.
const CHANGING_METHODS: [http::Method; 4] =
    [http::Method::POST, http::Method::PUT, http::Method::PATCH, http::Method::DELETE];

/// Returns the grants that a case needs if the plugin has no configuration entry. `is_stable` is true if the operator is
/// declared `stable`.
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
            // The administrator's word that a request to a model changes nothing.
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
    // A map is the tool's own, so it needs no word of the case.
    grants.kv = Some(KvGrant::named("case"));
    grants
}

/// Key-value map of the case. A plugin has one namespace, and all calls of a case have one tenant.
struct CaseMap {
    entries: Mutex<BTreeMap<String, Vec<u8>>>,
    /// True if the map was read or written.
    is_used: AtomicBool,
    /// True if a fault of the map made an access fail.
    is_refused: AtomicBool,
    /// Number of writes that were tried.
    writes: AtomicUsize,
    fault: Mutex<FaultProfile>,
}

impl CaseMap {
    fn use_store(&self, writes: bool) -> Result<(), StoreError> {
        self.is_used.store(true, Ordering::Relaxed);
        let write = if writes { self.writes.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let refused = match *self.fault.lock().unwrap_or_else(PoisonError::into_inner) {
            FaultProfile::NoMap => StoreError::Unavailable("its server does not answer".to_owned()),
            FaultProfile::ReadOnlyMap if writes => StoreError::ReadOnly("its disk is full".to_owned()),
            FaultProfile::WriteRefused { number, and_later }
                if writes && (write == number || and_later && write > number) =>
            {
                StoreError::ReadOnly("its disk is full".to_owned())
            }
            _ => return Ok(()),
        };
        self.is_refused.store(true, Ordering::Relaxed);
        Err(refused)
    }
}

#[async_trait]
impl KeyValue for CaseMap {
    async fn get(&self, _: &MapName, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.use_store(false)?;
        Ok(self.entries.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }
    async fn set(&self, _: &MapName, key: &str, value: &[u8], quota: u64) -> Result<(), SetError> {
        self.use_store(true).map_err(SetError::Store)?;
        let mut map = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let used = map.iter().map(|(key, value)| entry_bytes(key.len(), value.len())).sum();
        let before = map.get(key).map_or(0, |value| entry_bytes(key.len(), value.len()));
        bytes_after_set(used, before, entry_bytes(key.len(), value.len()), quota).map_err(SetError::Quota)?;
        map.insert(key.to_owned(), value.to_owned());
        Ok(())
    }
    async fn delete(&self, _: &MapName, key: &str) -> Result<bool, StoreError> {
        self.use_store(true)?;
        Ok(self.entries.lock().unwrap_or_else(PoisonError::into_inner).remove(key).is_some())
    }
}

struct CaseSecrets(BTreeMap<String, String>);

impl Secrets for CaseSecrets {
    fn value(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }
}

#[derive(Default)]
struct RequestLog {
    since: Vec<ReceivedRequest>,
    /// Number of world-changing requests that were ever received.
    changing: usize,
    /// True if the case had no answer for a request.
    is_unanswered: bool,
}

/// Stub servers of a case.
struct StubServers {
    responses: Vec<CannedResponse>,
    weather: Mutex<FaultProfile>,
    received: Mutex<RequestLog>,
}

impl HttpStub for StubServers {
    fn answer(&self, place: &Origin, request: Request<Bytes>) -> Result<Response<Bytes>, StubFailure> {
        let weather = *self.weather.lock().unwrap_or_else(PoisonError::into_inner);
        if weather == FaultProfile::Refused {
            return Err(StubFailure::Refused);
        }
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let port = match (place.scheme.as_str(), place.port) {
            ("https", 443) | ("http", 80) => String::new(),
            (_, port) => format!(":{port}"),
        };
        let url = format!("{}://{}{port}{path}", place.scheme, place.host);
        let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let received = ReceivedRequest {
            method: request.method().to_string(),
            url,
            headers: request.headers().iter().map(header).collect(),
            body: request.body().to_vec(),
        };
        let mut requests = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        let changing = requests.changing;
        let happened = changing > 0;
        let changes = received.may_change_state();
        requests.changing += usize::from(changes);
        let answer = match weather {
            FaultProfile::RefusedFrom(first) if changes && changing >= first => {
                Ok(response(422, None, Bytes::from_static(b"{}")))
            }
            FaultProfile::Silent => Err(StubFailure::TimedOut),
            FaultProfile::Status(status) => {
                let retry = (status == 429).then_some(("retry-after", "7"));
                Ok(response(status, retry, Bytes::from_static(b"{}")))
            }
            _ => Ok(self.canned(&received, request.method(), happened).unwrap_or_else(|| {
                requests.is_unanswered = true;
                response(404, None, Bytes::from_static(b"no answer of the case fits this request"))
            })),
        };
        requests.since.push(received);
        answer
    }
}

impl StubServers {
    /// Returns the answer of the case to this request.
    fn canned(&self, request: &ReceivedRequest, method: &Method, happened: bool) -> Option<Response<Bytes>> {
        let fits = |canned: &&CannedResponse| {
            let to = &canned.matcher;
            let url = request.url == to.url
                || !to.url.contains('?') && request.url.split('?').next() == Some(to.url.as_str());
            url && to.method.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method.as_str()))
                && to.happened.is_none_or(|wanted| wanted == happened)
        };
        let canned = &self.responses.iter().find(fits)?.response;
        let body = match &canned.body {
            serde_json::Value::Null => Bytes::new(),
            serde_json::Value::String(text) => Bytes::from(text.clone()),
            other => Bytes::from(other.to_string()),
        };
        let headers = canned.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Some(response(canned.status, headers, body))
    }
}

fn response<'h>(status: u16, headers: impl IntoIterator<Item = (&'h str, &'h str)>, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::OK);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (http::HeaderName::try_from(name), http::HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
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
