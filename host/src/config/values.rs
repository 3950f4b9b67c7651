//! Parsers of the small notations of the configuration: sizes, durations, digests, addresses and database
//! URLs. The error of each parser is a sentence with an example of a valid value.

use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};

use latchwork_core::model::ids::Hash;
use latchwork_engine::capability::grants::{Origin, TcpGrant};
use latchwork_engine::capability::http_grant::is_ambiguous_path;

/// Parses a number of bytes: `64MiB`, `1GB`, `512KiB`, `4096`.
pub(super) fn byte_size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 8] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim_start());
    let factor = if unit.is_empty() { Some(1) } else { UNITS.iter().find(|(name, _)| *name == unit).map(|(_, f)| *f) };
    let bytes = number.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    bytes.ok_or_else(|| format!("`{text}` is not a size: write a whole number and a unit, such as \"64MiB\""))
}

/// Parses a number of bytes between `min` and `max`.
pub(super) fn byte_size_between(text: &str, min: u64, max: u64) -> Result<u64, String> {
    match byte_size(text)? {
        bytes if (min..=max).contains(&bytes) => Ok(bytes),
        _ => Err(format!("`{text}` is not between {min} and {max} bytes")),
    }
}

/// Parses a duration of at most 49 days into milliseconds: `30s`, `500ms`, `1m 30s`.
pub(super) fn duration_ms(text: &str) -> Result<u32, String> {
    let wrong = || format!("`{text}` is not a duration: write a number and a unit, such as \"30s\" or \"500ms\"");
    let duration = humantime::parse_duration(text).map_err(|_| wrong())?;
    let ms = u32::try_from(duration.as_millis()).map_err(|_| format!("`{text}` is too long: at most 49 days"))?;
    if ms == 0 && !duration.is_zero() {
        return Err(format!("`{text}` is less than a millisecond"));
    }
    Ok(ms)
}

/// Parses a duration without an upper bound into milliseconds: `90days`.
pub(super) fn long_duration_ms(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a duration: write a number and a unit, such as \"30days\" or \"12h\"");
    let duration = humantime::parse_duration(text).map_err(|_| wrong())?;
    u64::try_from(duration.as_millis()).map_err(|_| format!("`{text}` is too long"))
}

/// Parses an amount of US dollars into millionths: `1.00`.
pub(super) fn micro_usd(text: &str) -> Result<u64, String> {
    latchwork_core::rules::cost::micro_usd(text).ok_or_else(|| {
        format!("`{text}` is not an amount: write US dollars with at most six decimals, such as \"1.00\"")
    })
}

/// Parses a digest: `sha256:` and 64 hexadecimal digits.
pub(super) fn digest(text: &str) -> Result<Hash, String> {
    text.strip_prefix("sha256:").and_then(Hash::from_hex).ok_or_else(|| {
        format!(
            "`{text}` is not a digest: write \"sha256:\" and 64 hexadecimal digits (`latch plugin inspect` shows it)"
        )
    })
}

/// Checks the name of a plugin.
pub(crate) fn plugin_name(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
        return Ok(text.to_owned());
    }
    Err(format!("invalid name `{text}`: use 1 to 64 letters, digits, `_` and `-`"))
}

/// Parses the URL of an HTTP grant: `https://api.example.com:443/v1/`. The default port of the scheme may be left out.
/// Returns the origin and the path. A path is allowed only if `allows_path` is true.
pub(super) fn http_url(text: &str, allows_path: bool) -> Result<(Origin, String), String> {
    let form = "write \"https://api.example.com\" or \"http://127.0.0.1:8080\"";
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(format!("`{text}` has no scheme: {form}"));
    };
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        other => return Err(format!("the scheme `{other}` cannot be granted, only `http` and `https`: {form}")),
    };
    let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    if text.contains(['?', '#', '@']) {
        return Err(format!("`{text}` has a query, a fragment or a user name: {form}"));
    }
    if path != "/" && !allows_path {
        return Err(format!(
            "`{text}` has a path: write a table to grant a path, such as {{ url = \"https://api.example.com/v1/\" }}"
        ));
    }
    if is_ambiguous_path(path) || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("the path of `{text}` is not allowed: use visible ASCII without `.` and `..` segments"));
    }
    let (host, port) = host_and_port(authority).map_err(|why| format!("`{text}` {why}: {form}"))?;
    Ok((Origin { scheme, host, port: port.unwrap_or(default_port) }, path.to_owned()))
}

/// Parses a TCP grant: `smtp.example.com:587`.
pub(super) fn tcp_grant(text: &str) -> Result<TcpGrant, String> {
    let form = "write host and port, such as \"smtp.example.com:587\"";
    let (host, port) = host_and_port(text).map_err(|why| format!("`{text}` {why}: {form}"))?;
    let port = port.ok_or_else(|| format!("`{text}` has no port: {form}"))?;
    Ok(TcpGrant { host, port })
}

/// Parses a database URL. The path of `sqlite://latch.db` is made absolute from `root`. The URL of a
/// PostgreSQL database is returned unchanged.
pub(super) fn database_url(text: &str, root: &Path) -> Result<String, String> {
    let form = "write \"sqlite://\" and the path of a file, such as \"sqlite://latch.db\", or the address of a \
                PostgreSQL database, such as \"postgres://user@host/database\"";
    let Some((scheme, path)) = text.split_once(':') else {
        return Err(format!("`{text}` is not a database URL: {form}"));
    };
    match scheme {
        "sqlite" => {}
        "postgres" | "postgresql" => return check_server_url(path).map(|()| text.to_owned()),
        other => return Err(format!("databases of the scheme `{other}:` are not supported: {form}")),
    }
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() {
        return Err(format!("`{text}` has no file path: {form}"));
    }
    if path.contains(":memory:") {
        return Err(format!("an in-memory database would lose every job: {form}"));
    }
    if path.contains(['?', '#', '%']) {
        return Err(format!("`{text}` has parameters or escapes, which are not supported: {form}"));
    }
    let file = absolute(root, path);
    match file.to_str() {
        Some(file) => Ok(format!("sqlite://{file}")),
        None => Err(format!("the path of the folder {} is not valid UTF-8", root.display())),
    }
}

/// Parameters allowed after the `?` of a PostgreSQL URL.
const SERVER_PARAMETERS: [&str; 10] =
    ["host", "port", "user", "password", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "application_name"];
/// Allowed values of the parameter `sslmode`.
const SSL_MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// Checks the part of a PostgreSQL URL after the scheme. Refuses parameters that the connection would ignore.
fn check_server_url(rest: &str) -> Result<(), String> {
    let form = "write \"postgres://user@host/database\"";
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(format!("the two slashes after the scheme are missing: {form}"));
    };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    let mut named = !database.is_empty();
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    // Colons in brackets belong to an IPv6 address.
    let behind = server.rsplit_once(']').map_or(server, |(_, behind)| behind);
    if let Some((_, port)) = behind.split_once(':').filter(|(_, port)| !port.is_empty()) {
        port_number(port).map_err(|why| format!("it {why}"))?;
    }
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if !SERVER_PARAMETERS.contains(&key) {
            let known = SERVER_PARAMETERS.join(", ");
            return Err(format!("unknown parameter `{key}`: use one of {known}"));
        }
        if key == "sslmode" && !SSL_MODES.contains(&value) {
            return Err(format!("unknown sslmode `{value}`: use one of {}", SSL_MODES.join(", ")));
        }
        if key == "port" {
            port_number(value).map_err(|why| format!("it {why}"))?;
        }
        named |= key == "dbname" && !value.is_empty();
    }
    if named { Ok(()) } else { Err(format!("the URL has no database: {form}")) }
}

/// Returns true if a database URL contains a password.
pub(super) fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let user = place.rsplit_once('@').map_or("", |(user, _)| user);
    user.contains(':') || parameters.split('&').any(|parameter| parameter.starts_with("password="))
}

/// Joins `path` to `root` and removes `.` and `..`. The path need not exist.
pub(super) fn absolute(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// Parses a path as a guest sees it: absolute and normalized.
pub(super) fn guest_path(text: &str) -> Result<String, String> {
    let clean = text.strip_prefix('/').is_some_and(|rest| {
        rest.is_empty() || rest.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
    });
    if clean { Ok(text.to_owned()) } else { Err(format!("`{text}` is not a plain absolute path such as \"/outbox\"")) }
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, tail) = rest.split_once(']').ok_or("has `[` without `]`")?;
            if !host.contains(':') {
                return Err("has something other than an IPv6 address in brackets".into());
            }
            let port = match tail {
                "" => None,
                tail => Some(tail.strip_prefix(':').ok_or("has something other than a port after `]`")?),
            };
            (host, port)
        }
        None if authority.matches(':').count() > 1 => return Err("has an IPv6 address without brackets".into()),
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = match port {
        None => None,
        Some(port) => Some(port_number(port)?),
    };
    Ok((host_name(host)?, port))
}

fn port_number(text: &str) -> Result<u16, String> {
    match text.parse::<u16>() {
        Ok(number) if number > 0 && text.bytes().all(|b| b.is_ascii_digit()) => Ok(number),
        _ => Err(format!("has the invalid port `{text}` (use 1 to 65535)")),
    }
}

/// Returns a host name in lower case, or an IP address in its normal form.
fn host_name(host: &str) -> Result<String, String> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(address.to_string());
    }
    if host.contains('*') {
        return Err("has a wildcard (grant each host by its own name)".into());
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if name.is_empty() {
        return Err("has no host".into());
    }
    if name.len() > 253 || !name.split('.').all(label) {
        return Err(format!("has the invalid host name `{host}` (write names in other scripts in their xn-- form)"));
    }
    // Some resolvers read `127.1` and `0x7f.1` as addresses and others as names, so these forms are refused.
    if name
        .split('.')
        .next_back()
        .is_some_and(|last| last.starts_with("0x") || last.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err(format!("has `{host}`, which is neither a name nor an address in its usual form"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations() {
        assert_eq!(byte_size("64MiB"), Ok(64 << 20));
        assert_eq!(byte_size("1 GB"), Ok(1_000_000_000));
        assert_eq!(byte_size("4096"), Ok(4096));
        for wrong in ["", "MiB", "1.5MiB", "64 mib", "-1", "99999999999999GiB"] {
            assert!(byte_size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(duration_ms("30s"), Ok(30_000));
        assert_eq!(duration_ms("1m 30s"), Ok(90_000));
        for wrong in ["", "30", "s", "1us", "60days", "-1s"] {
            assert!(duration_ms(wrong).is_err(), "{wrong}");
        }
        assert_eq!(long_duration_ms("60days"), Ok(60 * 86_400_000));
        assert_eq!(long_duration_ms("0s"), Ok(0));
        for wrong in ["", "30", "days", "-1day", "for ever"] {
            assert!(long_duration_ms(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn digests() {
        let hash = Hash::of(&[b"x"]);
        assert_eq!(digest(&format!("sha256:{hash}")), Ok(hash));
        for wrong in ["", "sha256:", &hash.to_string(), "sha256:abcd", "md5:abcd"] {
            assert!(digest(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn http_grants() {
        let read = |text| http_url(text, false).map(|(o, _)| (o.scheme, o.host, o.port));
        let grant = |scheme: &str, host: &str, port| Ok((scheme.to_owned(), host.to_owned(), port));
        assert_eq!(read("https://API.Example.com"), grant("https", "api.example.com", 443));
        assert_eq!(read("http://localhost/"), grant("http", "localhost", 80));
        assert_eq!(read("https://[::1]:8443"), grant("https", "::1", 8443));
        assert_eq!(read("http://127.0.0.1:8080"), grant("http", "127.0.0.1", 8080));
        for wrong in [
            "api.example.com",
            "ftp://example.com",
            "https://example.com/path",
            "https://user@example.com",
            "https://*.example.com",
            "https://",
            "https://example.com:0",
            "https://example.com:70000",
            "https://example.com:+80",
            "https://::1",
            "https://[example.com]",
            "https://[::1]443",
            "http://127.1",
            "http://0x7f000001",
            "https://bücher.example",
            "https://a..b",
            "https://-a.example",
        ] {
            assert!(http_url(wrong, false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn path_of_an_http_grant_is_plain() {
        let read = |text| http_url(text, true).map(|(origin, path)| (origin.host, path));
        let grant = |path: &str| Ok(("a.example".to_owned(), path.to_owned()));
        assert_eq!(read("https://a.example"), grant("/"));
        assert_eq!(read("https://a.example/v1/"), grant("/v1/"));
        assert_eq!(read("https://a.example:443/v1/x%20y"), grant("/v1/x%20y"));
        for wrong in ["/v1/..", "/./v1", "/%2e%2e/v1", "/v1%2fx", "/v1 x", "/v1\\x", "/v1?x=y", "/v1#x", "/vü", "/a@b"]
        {
            assert!(http_url(&format!("https://a.example{wrong}"), true).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tcp_grants_name_a_port() {
        assert_eq!(tcp_grant("smtp.example.com:587"), Ok(TcpGrant { host: "smtp.example.com".into(), port: 587 }));
        assert!(tcp_grant("smtp.example.com").is_err());
        assert!(tcp_grant("smtp://smtp.example.com:587").is_err());
    }

    #[test]
    fn databases_are_absolute_files() {
        let root = Path::new("/srv/app");
        assert_eq!(database_url("sqlite://latch.db", root), Ok("sqlite:///srv/app/latch.db".into()));
        assert_eq!(database_url("sqlite:../latch.db", root), Ok("sqlite:///srv/latch.db".into()));
        assert_eq!(database_url("sqlite:///var/latch.db", root), Ok("sqlite:///var/latch.db".into()));
        for wrong in ["latch.db", "sqlite::memory:", "sqlite://", "sqlite://a?mode=rw", "mysql://x"] {
            assert!(database_url(wrong, root).is_err(), "{wrong}");
        }
    }

    #[test]
    fn postgres_urls_must_be_complete() {
        let root = Path::new("/srv/app");
        for right in [
            "postgres://latch@db.example.com/latch",
            "postgresql://latch:secret@db.example.com:5433/latch?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            "postgres:///latch?host=/run/postgresql",
            "postgres://latch:5@[::1]:5433/latch?port=5434",
            "postgres://latch@localhost:/latch",
            "postgres://?host=/run/postgresql&dbname=latch",
        ] {
            assert_eq!(database_url(right, root), Ok(right.to_owned()));
        }
        for (wrong, why) in [
            ("postgres:latch", "two slashes"),
            ("postgres://localhost", "no database"),
            ("postgres://localhost/", "no database"),
            ("postgres://latch@localhost:99999/a", "invalid port `99999`"),
            ("postgres://latch:5@[::1]:x/a", "invalid port `x`"),
            ("postgres:///a?host=/run/postgresql&port=0", "invalid port `0`"),
            ("postgres://localhost/a?sslmod=require", "unknown parameter `sslmod`"),
            ("postgres://localhost/a?sslmode=verify", "unknown sslmode `verify`"),
        ] {
            assert!(database_url(wrong, root).unwrap_err().contains(why), "{wrong}");
        }
        assert!(has_password("postgres://a:b@h/d") && has_password("postgres://a@h/d?password=b"));
        assert!(!has_password("postgres://a@h:5432/d?sslmode=require") && !has_password("postgres:///d?host=/a:b"));
    }

    #[test]
    fn guest_paths() {
        assert_eq!(guest_path("/outbox"), Ok("/outbox".into()));
        assert_eq!(guest_path("/"), Ok("/".into()));
        for wrong in ["outbox", "/a/../b", "/a//b", "/a/", "", "/./a"] {
            assert!(guest_path(wrong).is_err(), "{wrong}");
        }
    }
}
