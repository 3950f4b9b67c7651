//! Grants: the capabilities that the configuration gives to a plugin.

use std::collections::BTreeSet;
use std::path::PathBuf;

use latchwork_core::model::bounds;

pub use http::{HeaderName, Method};

/// Capabilities of a tool. Empty lists grant nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Outgoing HTTP.
    pub http: Vec<HttpGrant>,
    /// Outgoing TCP.
    pub tcp: Vec<TcpGrant>,
    /// Directories.
    pub dirs: Vec<DirGrant>,
    /// Bytes that one call may write to the directories, together. `None`: the default.
    pub dir_bytes: Option<u64>,
    /// Names of secrets that are bound to no server. If the plugin has the grant `secrets_clear`, the tool receives the
    /// values of these secrets. Otherwise the tool receives placeholders that are inserted nowhere.
    pub secrets: Vec<String>,
    /// True if the tool receives secrets in clear instead of placeholders.
    pub secrets_clear: bool,
    /// The tool's key-value map.
    pub kv: Option<KvGrant>,
}

/// Scheme, host and port of a server, such as `https://api.example.com:443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `http` or `https`.
    pub scheme: String,
    /// Host name or address, lower case.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Requests that a tool may send to one server, below one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpGrant {
    /// The server.
    pub origin: Origin,
    /// Start of the allowed paths. It begins with `/`, and only whole segments of a path match.
    pub path: String,
    /// Methods that an operator with external effects may send. Of these, other operators may send only `GET` and
    /// `HEAD`.
    pub methods: Vec<Method>,
    /// Methods that change nothing on this server, as the administrator states. Every operator may send them.
    pub read_methods: Vec<Method>,
    /// Names of the secrets that the host inserts into requests that match the grant.
    pub secrets: Vec<String>,
    /// Parts of a request that the secrets are inserted into.
    pub secret_places: Vec<SecretPlace>,
    /// True if `latch.toml` states the address alone. Such a grant allows `GET` and `HEAD` on every path, without secrets.
    pub is_address_only: bool,
}

/// Part of a request that secrets are inserted into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretPlace {
    /// The value of a header.
    Header(HeaderName),
    /// The body.
    Body,
    /// Every header and the body. `latch.toml` cannot grant this place. Only the check of a tool without an entry in
    /// `latch.toml` grants it.
    Anywhere,
}

impl HttpGrant {
    /// Methods of a grant that names none.
    pub const DEFAULT_METHODS: [Method; 2] = [Method::GET, Method::HEAD];

    /// Returns the grant of an address alone: `GET` and `HEAD` on every path of a server, without secrets.
    pub fn read_only(origin: Origin) -> Self {
        Self {
            origin,
            path: "/".to_owned(),
            methods: Self::DEFAULT_METHODS.to_vec(),
            read_methods: Vec::new(),
            secrets: Vec::new(),
            secret_places: Vec::new(),
            is_address_only: true,
        }
    }

    /// Returns true if the grant allows the method to an operator without external effects.
    pub fn reads_with(&self, method: &Method) -> bool {
        self.read_methods.contains(method) || Self::DEFAULT_METHODS.contains(method) && self.methods.contains(method)
    }

    /// Returns true if the grant allows the method to an operator with external effects.
    pub fn allows(&self, method: &Method) -> bool {
        self.read_methods.contains(method) || self.methods.contains(method)
    }

    /// Returns true if the grant allows a method that may change something.
    pub fn may_change(&self) -> bool {
        self.methods.iter().any(|method| !self.reads_with(method))
    }
}

impl Grants {
    /// Largest quota of a call for its directories, in bytes.
    pub const DIR_BYTES_MAX: u64 = 1 << 50;

    /// Returns the number of bytes that one call may write to the directories.
    pub fn dir_bytes(&self) -> u64 {
        self.dir_bytes.unwrap_or(bounds::DIR_BYTES)
    }

    /// Returns the names of all secrets that the plugin may ask for, each once.
    pub fn secret_names(&self) -> BTreeSet<&str> {
        let bound = self.http.iter().flat_map(|grant| &grant.secrets);
        bound.chain(&self.secrets).map(String::as_str).collect()
    }
}

/// Key-value map of a tool, such as `{ name = "mail", bytes = "64MiB" }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvGrant {
    /// Namespace of the map. Plugins with the same namespace have the same map.
    pub name: String,
    /// True if all tenants have one map. False if each tenant has a map of its own.
    pub is_shared: bool,
    /// Largest number of bytes of a map.
    pub bytes: u64,
}

impl KvGrant {
    /// Quota of a grant that names none, in bytes.
    pub const DEFAULT_BYTES: u64 = bounds::KV_MAP_BYTES as u64;
    /// Largest quota, in bytes.
    pub const BYTES_MAX: u64 = 1 << 40;

    /// Returns the grant of a name alone: a map for each tenant, with the default quota.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_shared: false, bytes: Self::DEFAULT_BYTES }
    }
}

impl From<&str> for KvGrant {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

/// Server that a tool may connect to by TCP, such as `smtp.example.com:587`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpGrant {
    /// Host name or address, lower case.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Directory that a guest may use, such as `{ host = "outbox", guest = "/outbox", write = true }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirGrant {
    /// Absolute path on the host.
    pub host: PathBuf,
    /// Path of the directory in the guest.
    pub guest: String,
    /// True if the guest may write to the directory.
    pub write: bool,
}
