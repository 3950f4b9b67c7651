//! Checks of imports, TCP, directories, the key-value map and the use of secrets against the grants. Module
//! `http_grant` checks HTTP requests. No other module checks grants.
//!
//! The log record of a refusal contains the line of `latch.toml` that would allow the access. The line lists the
//! plugin's current grants and the missing grant.

use std::net::IpAddr;

use latchwork_core::model::bounds;
use latchwork_core::storage::{MapName, QuotaExceeded};

use crate::capability::address;
use crate::capability::denied::{DECLARE_EFFECTS, DECLARE_EXTERNAL_EFFECTS, Denied, NOT_FOR_PURE, ONLY_READS};
use crate::capability::grants::{Grants, KvGrant, Origin, SecretPlace, TcpGrant};
use crate::guest::permissions::{CallPermissions, DeniedBy, EffectClass};

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

/// Checks a name lookup for TCP.
pub(crate) fn check_tcp_name(grants: &Grants, permissions: CallPermissions, host: &str) -> Result<(), Denied> {
    if host.len() > bounds::HOST_NAME_BYTES {
        return Err(Denied::never(format!("wanted to look up a name of {} bytes", host.len()), "no host has it"));
    }
    if !grants.tcp.iter().any(|grant| same_host(&grant.host, host)) {
        let mut wanted = grants.clone();
        let port = grants.tcp.first().map_or(443, |grant| grant.port);
        wanted.tcp.push(TcpGrant { host: host.to_ascii_lowercase(), port });
        return Err(Denied::needs(format!("wanted to look up {host:?}"), wanted));
    }
    allow_tcp(permissions, || format!("wanted to look up {host:?} for TCP"))
}

/// Checks a TCP connection to an address. `resolved_from` contains the names whose lookups returned the
/// address.
pub(crate) fn check_tcp(
    grants: &Grants,
    permissions: CallPermissions,
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
        return Err(Denied::needs(what, wanted));
    }
    allow_tcp(permissions, || format!("wanted a TCP connection to {address}"))
}

/// Allows TCP to operators with external effects, because the host cannot determine whether TCP traffic only reads.
fn allow_tcp(permissions: CallPermissions, access: impl FnOnce() -> String) -> Result<(), Denied> {
    match permissions.class {
        _ if permissions.is_question => Err(Denied::never(access(), ONLY_READS)),
        EffectClass::External => Ok(()),
        EffectClass::Internal => Err(Denied::never(access(), DECLARE_EXTERNAL_EFFECTS).by(DeniedBy::NarrowerGrants)),
        EffectClass::Read => Err(Denied::never(access(), DECLARE_EXTERNAL_EFFECTS)),
    }
}

/// Refusal of any use of `wasi:sockets` other than an outgoing TCP connection.
pub(crate) fn refused_socket_use(what: &str) -> Denied {
    let alternative = "no grant allows it: tools connect over TCP and do nothing else with sockets";
    Denied::never(format!("wanted {what}"), alternative)
}

/// Refusal of a write in a directory that is granted for reading only.
pub(crate) fn refused_directory_write(grants: &Grants, permissions: CallPermissions, what: &str) -> Denied {
    if !permissions.may_write() && grants.dirs.iter().any(|dir| dir.write) {
        return Denied::never(format!("wanted to {what}"), remedy_of_write(permissions));
    }
    let mut wanted = grants.clone();
    wanted.dirs.iter_mut().for_each(|dir| dir.write = true);
    Denied::needs(format!("wanted to {what}"), wanted)
}

/// Returns the grant of the plugin's key-value map, if the map is granted.
pub(crate) fn check_kv<'a>(grants: &'a Grants, plugin: &str) -> Result<&'a KvGrant, Denied> {
    grants.kv.as_ref().ok_or_else(|| {
        let wanted = Grants { kv: Some(KvGrant::named(plugin)), ..grants.clone() };
        Denied::needs("wanted its map (latchwork:plugin/kv)".to_owned(), wanted)
    })
}

/// Returns the name of the map that a grant opens to a call of a tenant. Returns `None` if the call has no tenant and
/// the grant gives each tenant a map of its own.
pub(crate) fn map_name(grant: &KvGrant, tenant: &str) -> Option<MapName> {
    match grant.is_shared {
        true => Some(MapName::shared(&grant.name)),
        false => MapName::of_tenant(tenant, &grant.name),
    }
}

/// Refusal of a write that would make the map larger than its quota.
pub(crate) fn exceeded_kv_quota(grants: &Grants, grant: &KvGrant, exceeded: QuotaExceeded) -> Denied {
    const UNIT: u64 = 1 << 20;
    let QuotaExceeded { used, needed } = exceeded;
    let KvGrant { name, bytes, .. } = grant;
    let access =
        format!("wanted to grow its map {name:?} from {used} to {needed} bytes, beyond its limit of {bytes} bytes");
    let larger = needed.max(bytes.saturating_mul(2)).next_multiple_of(UNIT).min(KvGrant::BYTES_MAX);
    if needed > larger {
        return Denied::never(access, "no grant allows it: the map has its largest size; delete keys");
    }
    Denied::needs(access, Grants { kv: Some(KvGrant { bytes: larger, ..grant.clone() }), ..grants.clone() })
}

/// Refusal of a write that would exceed the quota of a call for its directories. `left` is the rest of the quota.
pub(crate) fn exceeded_dir_quota(grants: &Grants, left: u64, wanted: u64) -> Denied {
    const UNIT: u64 = 1 << 20;
    let quota = grants.dir_bytes();
    let access = format!(
        "wanted to write {wanted} bytes to its directories, but {left} of the {quota} bytes of the call are left"
    );
    let needed = quota.saturating_sub(left).saturating_add(wanted);
    if needed > Grants::DIR_BYTES_MAX {
        return Denied::never(access, "no grant allows it: a call writes no more");
    }
    let larger = needed.max(quota.saturating_mul(2)).next_multiple_of(UNIT).min(Grants::DIR_BYTES_MAX);
    Denied::needs(access, Grants { dir_bytes: Some(larger), ..grants.clone() })
}

/// Checks a write to the key-value map.
pub(crate) fn check_kv_write(permissions: CallPermissions) -> Result<(), Denied> {
    if permissions.may_write() {
        return Ok(());
    }
    Err(Denied::never("wanted to write to its map".to_owned(), remedy_of_write(permissions)))
}

/// Returns the remedy for a refused write.
fn remedy_of_write(permissions: CallPermissions) -> &'static str {
    if permissions.is_question { ONLY_READS } else { DECLARE_EFFECTS }
}

/// Checks the use of a secret.
pub(crate) fn check_secret(grants: &Grants, permissions: CallPermissions, name: &str) -> Result<(), Denied> {
    if permissions.is_pure {
        return Err(Denied::never(format!("wanted the secret {name:?}"), NOT_FOR_PURE));
    }
    if grants.secret_names().contains(name) {
        return Ok(());
    }
    if name.len() > bounds::SECRET_NAME_BYTES {
        return Err(Denied::never(format!("wanted a secret with a name of {} bytes", name.len()), "no secret has it"));
    }
    let mut wanted = grants.clone();
    match wanted.http.iter_mut().find(|grant| may_carry_secrets(&grant.origin)) {
        Some(grant) if !grants.secrets_clear => {
            grant.is_address_only = false;
            grant.secrets.push(name.to_owned());
            if grant.secret_places.is_empty() {
                grant.secret_places.push(SecretPlace::Header(http::header::AUTHORIZATION));
            }
        }
        _ => wanted.secrets.push(name.to_owned()),
    }
    Err(Denied::needs(format!("wanted the secret {name:?}"), wanted))
}

/// Formats an IP address as the host of a grant: without brackets, and an IPv4-mapped address as IPv4.
pub(crate) fn ip_host(ip: IpAddr) -> String {
    ip.to_canonical().to_string()
}

/// Parses the host of a grant as an IP address, with or without brackets. Returns `None` for a name.
pub(crate) fn parse_ip(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

/// Returns true if secrets may be sent to the server: by `https`, or to a loopback address.
pub fn may_carry_secrets(origin: &Origin) -> bool {
    origin.scheme == "https" || parse_ip(&origin.host).is_some_and(|ip| ip.is_loopback())
}

pub(crate) fn same_host(grant: &str, host: &str) -> bool {
    grant.eq_ignore_ascii_case(host) || parse_ip(grant).is_some_and(|ip| parse_ip(host) == Some(ip))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::grants::{DirGrant, HttpGrant, Origin};

    fn of(class: EffectClass) -> CallPermissions {
        CallPermissions { class, ..CallPermissions::READ_ONLY }
    }

    /// I225: bounds `host_name_bytes` and `secret_name_bytes`. A longer name is not repeated in a message.
    #[test]
    fn names_of_hosts_and_secrets_are_bounded() {
        let longest = "h".repeat(bounds::HOST_NAME_BYTES);
        let look_up = |host: &str| {
            let grants = Grants { tcp: vec![TcpGrant { host: host.to_owned(), port: 1 }], ..Grants::default() };
            check_tcp_name(&grants, of(EffectClass::External), host)
        };
        assert_eq!(look_up(&longest), Ok(()));
        let beyond = format!("{:?}", look_up(&format!("{longest}h")).unwrap_err());
        assert!(beyond.contains("254 bytes") && !beyond.contains(&longest), "{beyond}");
        let longest = "s".repeat(bounds::SECRET_NAME_BYTES);
        let refusal = |name: &str| {
            format!("{:?}", check_secret(&Grants::default(), CallPermissions::READ_ONLY, name).unwrap_err())
        };
        assert!(refusal(&longest).contains(&longest));
        let beyond = refusal(&format!("{longest}s"));
        assert!(beyond.contains("129 bytes") && !beyond.contains(&longest), "{beyond}");
    }

    /// I197. Only an operator with external effects may use TCP.
    #[test]
    fn tcp_address_needs_a_granted_name_and_an_external_effect() {
        let grants = Grants { tcp: vec![TcpGrant { host: "mail.example".into(), port: 587 }], ..Grants::default() };
        let at = |text: &str| text.parse().unwrap();
        let names = ["MAIL.example".to_owned()];
        let external = of(EffectClass::External);
        assert_eq!(check_tcp(&grants, external, at("93.184.216.34:587"), &names), Ok(()));
        assert!(check_tcp(&grants, external, at("93.184.216.34:25"), &names).is_err());
        assert!(check_tcp(&grants, external, at("93.184.216.34:587"), &[]).is_err());
        assert!(check_tcp(&grants, external, at("127.0.0.1:587"), &names).is_err());
        for (class, rule) in [(EffectClass::Internal, DeniedBy::NarrowerGrants), (EffectClass::Read, DeniedBy::Grants)]
        {
            let denied = check_tcp(&grants, of(class), at("93.184.216.34:587"), &names).unwrap_err();
            assert_eq!(denied.rule, rule, "{class:?}");
            assert_eq!(check_tcp_name(&grants, of(class), "mail.example").unwrap_err().rule, rule, "{class:?}");
        }
        assert_eq!(check_tcp_name(&grants, external, "mail.example"), Ok(()));
    }

    #[test]
    fn refused_directory_write_shows_the_needed_grant() {
        let dir = DirGrant { host: "/srv/out".into(), guest: "/out".into(), write: false };
        let grants = Grants { dirs: vec![dir], ..Grants::default() };
        let text = refused_directory_write(&grants, of(EffectClass::Internal), "create a file").log("p");
        assert!(text.contains(r#"dirs = [{ host = "/srv/out", guest = "/out", write = true }]"#), "{text}");
    }

    /// I232. A call without a tenant gets no map of a tenant, and in particular not the map that all tenants share.
    #[test]
    fn map_belongs_to_the_tenant_unless_it_is_shared() {
        let own = KvGrant::named("mail");
        let shared = KvGrant { is_shared: true, ..own.clone() };
        assert_eq!(map_name(&own, "acme"), MapName::of_tenant("acme", "mail"));
        assert_eq!(map_name(&own, ""), None);
        assert_eq!(map_name(&shared, "acme"), Some(MapName::shared("mail")));
    }

    /// I234.
    #[test]
    fn exceeded_quota_shows_the_grant_that_would_raise_it() {
        let line = |grant: KvGrant, needed| {
            let grants = Grants { kv: Some(grant.clone()), ..Grants::default() };
            exceeded_kv_quota(&grants, &grant, QuotaExceeded { used: 1, needed }).log("p")
        };
        let text = line(KvGrant::named("mail"), (16 << 20) + 1);
        assert!(text.contains("from 1 to 16777217 bytes, beyond its limit of 16777216 bytes"), "{text}");
        assert!(text.contains(r#"grants = { kv = { name = "mail", bytes = "32MiB" } }"#), "{text}");
        let small = KvGrant { is_shared: true, bytes: 3, ..KvGrant::named("mail") };
        let text = line(small, 70_000);
        assert!(text.contains(r#"kv = { name = "mail", shared = true, bytes = "1MiB" }"#), "{text}");
        let largest = KvGrant { bytes: KvGrant::BYTES_MAX, ..KvGrant::named("mail") };
        let text = line(largest, KvGrant::BYTES_MAX + 1);
        assert!(text.contains("delete keys") && !text.contains("grants ="), "{text}");
    }

    #[test]
    fn unnamed_secret_shows_its_binding_to_a_granted_server() {
        let origin = Origin { scheme: "https".into(), host: "a.example".into(), port: 443 };
        let grants = Grants { http: vec![HttpGrant::read_only(origin)], ..Grants::default() };
        let text = check_secret(&grants, CallPermissions::READ_ONLY, "TOKEN").unwrap_err().log("p");
        assert!(text.contains(r#"secrets = ["TOKEN"], in = ["header:authorization"]"#), "{text}");
        let clear = Grants { secrets_clear: true, ..Grants::default() };
        let text = check_secret(&clear, CallPermissions::READ_ONLY, "TOKEN").unwrap_err().log("p");
        assert!(text.contains(r#"grants = { secrets = ["TOKEN"], secrets_clear = true }"#), "{text}");
    }
}
