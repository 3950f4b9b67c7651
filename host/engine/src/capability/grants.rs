//! Grants: the capabilities that the configuration gives to a plugin.

use std::path::PathBuf;

/// Capabilities of a tool. Empty lists grant nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Outgoing HTTP.
    pub http: Vec<HttpGrant>,
    /// Outgoing TCP.
    pub tcp: Vec<TcpGrant>,
    /// Directories.
    pub dirs: Vec<DirGrant>,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// True if the tool receives secrets in clear instead of placeholders.
    pub secrets_clear: bool,
    /// Namespace of the tool's key-value map.
    pub kv: Option<String>,
}

/// Server that a tool may call by HTTP, such as `https://api.example.com:443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpGrant {
    /// `http` or `https`.
    pub scheme: String,
    /// Host name or address, lower case.
    pub host: String,
    /// Port.
    pub port: u16,
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
