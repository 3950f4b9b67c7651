//! Writes grants as they are written in `latch.toml`.

use http::Method;

use crate::capability::grants::{DirGrant, Grants, HttpGrant, KvGrant, Origin, SecretPlace};

/// Formats the grants as a line of `latch.toml`.
pub fn config_line(grants: &Grants) -> String {
    let mut parts = Vec::new();
    if !grants.http.is_empty() {
        parts.push(format!("http = [{}]", joined(&grants.http, http_grant)));
    }
    if !grants.tcp.is_empty() {
        let place = |host: &str, port| text(&format!("{}:{port}", bracketed(host)));
        parts.push(format!("tcp = [{}]", joined(&grants.tcp, |grant| place(&grant.host, grant.port))));
    }
    if !grants.dirs.is_empty() {
        parts.push(format!("dirs = [{}]", joined(&grants.dirs, dir_grant)));
    }
    if let Some(bytes) = grants.dir_bytes {
        parts.push(format!("dir_bytes = {}", text(&byte_size(bytes))));
    }
    if !grants.secrets.is_empty() {
        parts.push(format!("secrets = {}", texts(&grants.secrets)));
    }
    if grants.secrets_clear {
        parts.push("secrets_clear = true".to_owned());
    }
    if let Some(grant) = &grants.kv {
        parts.push(format!("kv = {}", kv_grant(grant)));
    }
    format!("grants = {{ {} }}", parts.join(", "))
}

/// Formats one HTTP grant: an address alone, or a table.
pub fn http_grant(grant: &HttpGrant) -> String {
    let url = text(&format!("{}{}", origin_text(&grant.origin), if grant.path == "/" { "" } else { &grant.path }));
    if grant.is_address_only {
        return url;
    }
    let methods = |methods: &[Method]| format!("[{}]", joined(methods, |method| text(method.as_str())));
    let mut parts = vec![format!("url = {url}"), format!("methods = {}", methods(&grant.methods))];
    if !grant.read_methods.is_empty() {
        parts.push(format!("read_methods = {}", methods(&grant.read_methods)));
    }
    if !grant.secrets.is_empty() {
        parts.push(format!("secrets = {}", texts(&grant.secrets)));
        parts.push(format!("in = [{}]", joined(&grant.secret_places, |place| text(&place.to_string()))));
    }
    format!("{{ {} }}", parts.join(", "))
}

/// Formats the grant of a key-value map: a name alone, or a table.
fn kv_grant(grant: &KvGrant) -> String {
    let KvGrant { name, is_shared, bytes } = grant;
    let mut parts = vec![format!("name = {}", text(name))];
    if *is_shared {
        parts.push("shared = true".to_owned());
    }
    if *bytes != KvGrant::DEFAULT_BYTES {
        parts.push(format!("bytes = {}", text(&byte_size(*bytes))));
    }
    if parts.len() == 1 { text(name) } else { format!("{{ {} }}", parts.join(", ")) }
}

/// Formats a number of bytes with the largest unit that has no remainder: `64MiB`.
pub fn byte_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}

/// Formats an origin as a URL: `https://api.example.com:443`.
pub fn origin_text(origin: &Origin) -> String {
    format!("{}://{}:{}", origin.scheme, bracketed(&origin.host), origin.port)
}

impl std::fmt::Display for SecretPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SecretPlace::Header(name) => write!(f, "header:{name}"),
            SecretPlace::Body => f.write_str("body"),
            SecretPlace::Anywhere => f.write_str("anywhere"),
        }
    }
}

fn dir_grant(dir: &DirGrant) -> String {
    let (host, guest) = (text(&dir.host.to_string_lossy()), text(&dir.guest));
    format!("{{ host = {host}, guest = {guest}, write = {} }}", dir.write)
}

fn joined<T>(items: &[T], format: impl Fn(&T) -> String) -> String {
    items.iter().map(format).collect::<Vec<_>>().join(", ")
}

fn texts(items: &[String]) -> String {
    format!("[{}]", joined(items, |item| text(item)))
}

fn text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn bracketed(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() }
}
