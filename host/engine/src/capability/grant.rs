//! The only module that checks grants.
//!
//! The log record of a refusal contains the line of `latch.toml` that would allow the access. The line lists the
//! plugin's current grants and the missing grant.

use std::net::IpAddr;

use crate::capability::address;
use crate::capability::grants::{Grants, HttpGrant, TcpGrant};

/// Rights of an operator's code, derived from the effects and the determinism that the operator declares.
///
/// An access must be allowed both by these rights and by the plugin's grants. An operator without world-changing
/// effects may only read, even if the grants allow more. The functions `reconcile` and `verify` may only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectivePermissions {
    /// True if the code may write to directories and to the key-value map, open TCP connections, and send any
    /// HTTP method.
    pub(crate) write: bool,
    /// True if the code may send POST requests that change nothing, as needed for requests to models.
    pub(crate) post: bool,
}

impl EffectivePermissions {
    /// Permission to read only.
    pub const READ_ONLY: EffectivePermissions = EffectivePermissions { write: false, post: false };
}

/// Refusal of an access, with the change that would allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    access: String,
    remedy: Remedy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Remedy {
    /// Grants that would allow the access.
    Grants(Grants),
    /// No grant would allow the access. The text names the alternative.
    Other(&'static str),
}

/// Text of a refusal: the operator declares no world-changing effect. The text names the remedy.
pub const DECLARE_EFFECTS: &str = "no grant allows it: the operator declares no world-changing effect, \
     so that it may only look; declare internal-write, external-write or external-send in describe";

impl Denied {
    /// Logs the refusal and returns a sentence for the guest.
    pub fn log(&self, plugin: &str) -> String {
        match &self.remedy {
            Remedy::Grants(grants) => {
                let line = config_line(grants);
                tracing::warn!(
                    plugin,
                    "denied: plugin {plugin:?} {}; to allow it, its [[plugin]] in latch.toml needs: {line}",
                    self.access
                );
                format!("denied: {}; latch.toml would allow it with: {line}", self.access)
            }
            Remedy::Other(text) => {
                tracing::warn!(plugin, "denied: plugin {plugin:?} {}; {text}", self.access);
                format!("denied: {}; {text}", self.access)
            }
        }
    }
}

/// Returns the reason why a tool may not import a WASI interface. Returns `None` if the import is allowed.
pub(crate) fn refuse_import(interface: &str, grants: &Grants) -> Option<String> {
    let needs = |example: &str| Some(format!("it needs a grant in latch.toml, such as grants = {{ {example} }}"));
    match interface.split('/').next().unwrap_or(interface) {
        "wasi:http" if interface == "wasi:http/incoming-handler" => {
            Some("a tool cannot serve requests; it is called through latchwork:plugin/invoke".to_owned())
        }
        "wasi:http" if grants.http.is_empty() => needs("http = [\"https://api.example.com:443\"]"),
        "wasi:sockets" if grants.tcp.is_empty() => needs("tcp = [\"smtp.example.com:587\"]"),
        // `wasi:filesystem` is allowed even without a grant, because many language runtimes import it without using it.
        // Without a grant the guest has no directory and can open nothing.
        "wasi:http" | "wasi:sockets" | "wasi:filesystem" | "wasi:clocks" | "wasi:random" | "wasi:io" | "wasi:cli" => {
            None
        }
        _ => Some("this host does not serve it".to_owned()),
    }
}

/// Checks an HTTP request with this method to this scheme, host and port.
pub fn check_http(
    grants: &Grants,
    rights: EffectivePermissions,
    place: &HttpGrant,
    method: &hyper::Method,
) -> Result<(), Denied> {
    if !grants.http.iter().any(|grant| same_origin(grant, place)) {
        let mut wanted = grants.clone();
        wanted.http.push(place.clone());
        return Err(Denied { access: format!("wanted {}", origin_text(place)), remedy: Remedy::Grants(wanted) });
    }
    let looks = [hyper::Method::GET, hyper::Method::HEAD, hyper::Method::OPTIONS].contains(method);
    if looks || rights.write || (rights.post && *method == hyper::Method::POST) {
        return Ok(());
    }
    let what = format!("wanted to send {method} to {}", origin_text(place));
    Err(Denied { access: what, remedy: Remedy::Other(DECLARE_EFFECTS) })
}

/// Checks the resolved address of a granted HTTP host. A public address is allowed. Any other address needs a grant
/// that names the address itself.
pub(crate) fn check_http_address(grants: &Grants, place: &HttpGrant, ip: IpAddr) -> Result<(), Denied> {
    let named = |grant: &HttpGrant| {
        grant.scheme == place.scheme && grant.port == place.port && parse_ip(&grant.host) == Some(ip.to_canonical())
    };
    if address::is_public(ip) || grants.http.iter().any(named) {
        return Ok(());
    }
    let mut wanted = grants.clone();
    wanted.http.push(HttpGrant { host: ip_host(ip), ..place.clone() });
    let what = format!("wanted {}, which leads to the private address {ip}", origin_text(place));
    Err(Denied { access: what, remedy: Remedy::Grants(wanted) })
}

/// Checks a name lookup for TCP.
pub(crate) fn check_tcp_name(grants: &Grants, rights: EffectivePermissions, host: &str) -> Result<(), Denied> {
    if !grants.tcp.iter().any(|grant| same_host(&grant.host, host)) {
        let mut wanted = grants.clone();
        let port = grants.tcp.first().map_or(443, |grant| grant.port);
        wanted.tcp.push(TcpGrant { host: host.to_ascii_lowercase(), port });
        return Err(Denied { access: format!("wanted to look up {host:?}"), remedy: Remedy::Grants(wanted) });
    }
    if rights.write {
        return Ok(());
    }
    // The host cannot determine whether TCP traffic only reads, so TCP needs the right to write.
    Err(Denied { access: format!("wanted to look up {host:?} for TCP"), remedy: Remedy::Other(DECLARE_EFFECTS) })
}

/// Checks a TCP connection to an address. `resolved_from` contains the names whose lookups returned the
/// address.
pub(crate) fn check_tcp(
    grants: &Grants,
    rights: EffectivePermissions,
    address: std::net::SocketAddr,
    resolved_from: &[String],
) -> Result<(), Denied> {
    let ip = address.ip().to_canonical();
    let of_port = || grants.tcp.iter().filter(|grant| grant.port == address.port());
    let by_address = of_port().any(|grant| parse_ip(&grant.host) == Some(ip));
    let by_name = of_port().any(|grant| resolved_from.iter().any(|name| same_host(&grant.host, name)));
    if !(by_address || by_name && address::is_public(ip)) {
        let mut wanted = grants.clone();
        wanted.tcp.push(TcpGrant { host: ip_host(ip), port: address.port() });
        let private = if address::is_public(ip) { "" } else { ", a private address" };
        let what = format!("wanted a TCP connection to {address}{private}");
        return Err(Denied { access: what, remedy: Remedy::Grants(wanted) });
    }
    if rights.write {
        return Ok(());
    }
    let what = format!("wanted a TCP connection to {address}");
    Err(Denied { access: what, remedy: Remedy::Other(DECLARE_EFFECTS) })
}

/// Refusal of any use of `wasi:sockets` other than an outgoing TCP connection.
pub(crate) fn refused_socket_use(what: &str) -> Denied {
    Denied {
        access: format!("wanted {what}"),
        remedy: Remedy::Other("no grant allows it: tools connect over TCP and do nothing else with sockets"),
    }
}

/// Refusal of a write in a directory that is granted for reading only.
pub(crate) fn refused_directory_write(grants: &Grants, rights: EffectivePermissions, what: &str) -> Denied {
    if !rights.write && grants.dirs.iter().any(|dir| dir.write) {
        return Denied { access: format!("wanted to {what}"), remedy: Remedy::Other(DECLARE_EFFECTS) };
    }
    let mut wanted = grants.clone();
    wanted.dirs.iter_mut().for_each(|dir| dir.write = true);
    Denied { access: format!("wanted to {what}"), remedy: Remedy::Grants(wanted) }
}

/// Returns the namespace of the plugin's key-value map, if the map is granted.
pub(crate) fn kv_namespace<'a>(grants: &'a Grants, plugin: &str) -> Result<&'a str, Denied> {
    grants.kv.as_deref().ok_or_else(|| Denied {
        access: "wanted its map (latchwork:plugin/kv)".to_owned(),
        remedy: Remedy::Grants(Grants { kv: Some(plugin.to_owned()), ..grants.clone() }),
    })
}

/// Checks a write to the key-value map.
pub(crate) fn check_kv_write(rights: EffectivePermissions) -> Result<(), Denied> {
    if rights.write {
        return Ok(());
    }
    Err(Denied { access: "wanted to write to its map".to_owned(), remedy: Remedy::Other(DECLARE_EFFECTS) })
}

/// Checks the use of a secret.
pub(crate) fn check_secret(grants: &Grants, name: &str) -> Result<(), Denied> {
    if grants.secrets.iter().any(|granted| granted == name) {
        return Ok(());
    }
    let mut wanted = grants.clone();
    wanted.secrets.push(name.to_owned());
    Err(Denied { access: format!("wanted the secret {name:?}"), remedy: Remedy::Grants(wanted) })
}

/// Formats the grants as a line of `latch.toml`.
pub fn config_line(grants: &Grants) -> String {
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let list = |items: Vec<String>| format!("[{}]", items.iter().map(|item| text(item)).collect::<Vec<_>>().join(", "));
    let mut parts = Vec::new();
    if !grants.http.is_empty() {
        parts.push(format!("http = {}", list(grants.http.iter().map(origin_text).collect())));
    }
    if !grants.tcp.is_empty() {
        let places = grants.tcp.iter().map(|grant| format!("{}:{}", bracketed(&grant.host), grant.port)).collect();
        parts.push(format!("tcp = {}", list(places)));
    }
    if !grants.dirs.is_empty() {
        let dirs = grants.dirs.iter().map(|dir| {
            let (host, guest) = (text(&dir.host.to_string_lossy()), text(&dir.guest));
            format!("{{ host = {host}, guest = {guest}, write = {} }}", dir.write)
        });
        parts.push(format!("dirs = [{}]", dirs.collect::<Vec<_>>().join(", ")));
    }
    if !grants.secrets.is_empty() {
        parts.push(format!("secrets = {}", list(grants.secrets.clone())));
    }
    if grants.secrets_clear {
        parts.push("secrets_clear = true".to_owned());
    }
    if let Some(namespace) = &grants.kv {
        parts.push(format!("kv = {}", text(namespace)));
    }
    format!("grants = {{ {} }}", parts.join(", "))
}

fn origin_text(place: &HttpGrant) -> String {
    format!("{}://{}:{}", place.scheme, bracketed(&place.host), place.port)
}

fn bracketed(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() }
}

/// Formats an IP address as the host of a grant: without brackets, and an IPv4-mapped address as IPv4.
fn ip_host(ip: IpAddr) -> String {
    ip.to_canonical().to_string()
}

/// Parses the host of a grant as an IP address, with or without brackets. Returns `None` for a name.
pub(crate) fn parse_ip(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

fn same_origin(grant: &HttpGrant, place: &HttpGrant) -> bool {
    grant.scheme == place.scheme && grant.port == place.port && same_host(&grant.host, &place.host)
}

fn same_host(grant: &str, host: &str) -> bool {
    grant.eq_ignore_ascii_case(host) || parse_ip(grant).is_some_and(|ip| parse_ip(host) == Some(ip))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::grants::DirGrant;
    use hyper::Method;

    const WRITE: EffectivePermissions = EffectivePermissions { write: true, post: false };

    fn place(text: &str) -> HttpGrant {
        let (scheme, rest) = text.split_once("://").unwrap();
        let (host, port) = rest.rsplit_once(':').unwrap();
        HttpGrant { scheme: scheme.into(), host: host.into(), port: port.parse().unwrap() }
    }

    #[test]
    fn http_matches_scheme_host_and_port() {
        let grants = Grants { http: vec![place("https://a.example:443")], kv: Some("m".into()), ..Grants::default() };
        assert_eq!(check_http(&grants, WRITE, &place("https://a.example:443"), &Method::POST), Ok(()));
        for other in ["http://a.example:443", "https://b.example:443", "https://a.example:8443"] {
            let denied = check_http(&grants, WRITE, &place(other), &Method::GET).unwrap_err();
            let line = format!("grants = {{ http = [\"https://a.example:443\", \"{other}\"], kv = \"m\" }}");
            assert!(denied.log("p").contains(&line), "{}", denied.log("p"));
        }
    }

    #[test]
    fn read_permission_does_not_allow_writes() {
        let a = place("https://a.example:443");
        let grants = Grants { http: vec![a.clone()], ..Grants::default() };
        assert_eq!(check_http(&grants, EffectivePermissions::READ_ONLY, &a, &Method::GET), Ok(()));
        assert!(
            check_http(&grants, EffectivePermissions::READ_ONLY, &a, &Method::POST)
                .unwrap_err()
                .log("p")
                .contains("describe")
        );
        let model = EffectivePermissions { write: false, post: true };
        assert_eq!(check_http(&grants, model, &a, &Method::POST), Ok(()));
        assert!(check_http(&grants, model, &a, &Method::DELETE).is_err());
    }

    #[test]
    fn private_addresses_need_a_grant_by_address() {
        let name = place("http://intranet.example:80");
        let by_name = Grants { http: vec![name.clone()], ..Grants::default() };
        let ip: IpAddr = "10.1.2.3".parse().unwrap();
        let denied = check_http_address(&by_name, &name, ip).unwrap_err();
        assert!(denied.log("p").contains("http://10.1.2.3:80"));
        let by_address = Grants { http: vec![name.clone(), place("http://10.1.2.3:80")], ..Grants::default() };
        assert_eq!(check_http_address(&by_address, &name, ip), Ok(()));
        assert_eq!(check_http_address(&by_address, &name, "::ffff:10.1.2.3".parse().unwrap()), Ok(()));
        assert!(check_http_address(&by_address, &name, "10.1.2.4".parse().unwrap()).is_err());
        assert_eq!(check_http_address(&by_name, &name, "93.184.216.34".parse().unwrap()), Ok(()));
    }

    #[test]
    fn tcp_address_needs_a_granted_name() {
        let grants = Grants { tcp: vec![TcpGrant { host: "mail.example".into(), port: 587 }], ..Grants::default() };
        let at = |text: &str| text.parse().unwrap();
        let names = ["MAIL.example".to_owned()];
        assert_eq!(check_tcp(&grants, WRITE, at("93.184.216.34:587"), &names), Ok(()));
        assert!(check_tcp(&grants, WRITE, at("93.184.216.34:25"), &names).is_err());
        assert!(check_tcp(&grants, WRITE, at("93.184.216.34:587"), &[]).is_err());
        assert!(check_tcp(&grants, WRITE, at("127.0.0.1:587"), &names).is_err());
        assert!(check_tcp(&grants, EffectivePermissions::READ_ONLY, at("93.184.216.34:587"), &names).is_err());
    }

    #[test]
    fn refused_directory_write_shows_the_needed_grant() {
        let dir = DirGrant { host: "/srv/out".into(), guest: "/out".into(), write: false };
        let grants = Grants { dirs: vec![dir], ..Grants::default() };
        let text = refused_directory_write(&grants, WRITE, "create a file").log("p");
        assert!(text.contains(r#"dirs = [{ host = "/srv/out", guest = "/out", write = true }]"#), "{text}");
    }
}
