//! Checks of HTTP requests against the grants: server, path, method and secrets.

use std::net::IpAddr;

use hyper::Method;

use crate::capability::address;
use crate::capability::config_line::origin_text;
use crate::capability::denied::{Denied, NO_EXTERNAL_EFFECT};
use crate::capability::grant::{ip_host, may_carry_secrets, same_host};
use crate::capability::grants::{Grants, HttpGrant, Origin, SecretPlace};
use crate::guest::permissions::{CallPermissions, DeniedBy, EffectClass};

/// Longest path, in bytes, that the line of a refusal repeats. In place of a longer path, the line grants every path.
const SHOWN_PATH_BYTES_MAX: usize = 200;
/// Condition of a line that grants a method to operators without external effects.
const IF_IT_READS: &str = "if the method changes nothing there";

/// Methods that a grant can name.
pub const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::OPTIONS, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Properties of a request on which the grants depend.
#[derive(Clone, Debug)]
pub struct RequestLine<'a> {
    /// Server that the request goes to.
    pub origin: &'a Origin,
    /// Path, as it is sent. It begins with `/`.
    pub path: &'a str,
    /// Method.
    pub method: &'a Method,
}

/// Returns the grants that allow a request.
///
/// # Errors
/// No grant allows the request. The refusal contains the line that would allow it.
pub fn check_http<'g>(
    grants: &'g Grants,
    permissions: CallPermissions,
    request: &RequestLine<'_>,
) -> Result<Vec<&'g HttpGrant>, Denied> {
    let reads = HttpGrant::DEFAULT_METHODS.contains(request.method);
    if permissions.is_dry_run && !reads {
        let access = format!("wanted to send {} to {}", request.method, displayed_url(request));
        return Err(Denied::never(access, "a dry run sends GET and HEAD alone").by(DeniedBy::DryRun));
    }
    let allows = |grant: &HttpGrant| match permissions.may_send() {
        true => grant.allows(request.method),
        false => grant.reads_with(request.method),
    };
    let at_path = grants.http.iter().filter(|grant| covers(grant, request));
    let allowing: Vec<_> = at_path.filter(|grant| allows(grant)).collect();
    match allowing.is_empty() {
        true => Err(refusal(grants, permissions, request)),
        false => Ok(allowing),
    }
}

/// Returns the refusal of a request that no grant allows.
fn refusal(grants: &Grants, permissions: CallPermissions, request: &RequestLine<'_>) -> Denied {
    let RequestLine { origin, method, .. } = request;
    if !METHODS.contains(method) {
        let access = format!("wanted to send the method {method} to {}", displayed_url(request));
        return Denied::never(access, "no grant can name this method");
    }
    let is_read = HttpGrant::DEFAULT_METHODS.contains(method);
    let access = match is_read {
        true => format!("wanted {}", displayed_url(request)),
        false => format!("wanted to send {method} to {}", displayed_url(request)),
    };
    let mut wanted = grants.clone();
    let at = match wanted.http.iter().position(|grant| covers(grant, request)) {
        Some(at) => at,
        None => {
            let path = if request.path.len() <= SHOWN_PATH_BYTES_MAX { request.path } else { "/" };
            // If no grant names the server, the line grants every path of the server.
            let named = wanted.http.iter().any(|grant| same_origin(&grant.origin, origin));
            let new = HttpGrant::read_only((*origin).clone());
            wanted.http.push(match named {
                true => HttpGrant { path: path.to_owned(), is_address_only: false, ..new },
                false => new,
            });
            wanted.http.len() - 1
        }
    };
    let grant = &mut wanted.http[at];
    let add = |methods: &mut Vec<Method>| {
        if !methods.contains(method) {
            methods.push((*method).clone());
        }
    };
    let rule = narrowing_rule(grants, permissions, request);
    if is_read && grant.methods.contains(method) {
        return Denied::needs(access, wanted).by(rule);
    }
    grant.is_address_only = false;
    match (permissions.may_send(), is_read) {
        (true, _) | (_, true) => {
            add(&mut grant.methods);
            Denied::needs(access, wanted).by(rule)
        }
        (false, false) => {
            add(&mut grant.read_methods);
            let access = format!("{access}, {NO_EXTERNAL_EFFECT}");
            Denied::needs_if(access, IF_IT_READS, wanted).by(rule)
        }
    }
}

/// Returns the rule that refused a request. The rule is [`DeniedBy::NarrowerGrants`] if a grant of an address alone
/// allowed the request in earlier versions. Such a grant allowed every method to operators that change the world, and
/// `POST` to stable operators.
fn narrowing_rule(grants: &Grants, permissions: CallPermissions, request: &RequestLine<'_>) -> DeniedBy {
    let method = request.method;
    let was_granted =
        grants.http.iter().any(|grant| grant.is_address_only && same_origin(&grant.origin, request.origin));
    let was_allowed = permissions.class != EffectClass::Read
        || *method == Method::OPTIONS
        || permissions.is_stable && *method == Method::POST;
    if was_granted && was_allowed { DeniedBy::NarrowerGrants } else { DeniedBy::Grants }
}

/// Checks the resolved address of a granted HTTP host. A public address is allowed. Any other address needs a grant
/// that names the address itself and allows the same request.
pub(crate) fn check_http_address(
    grants: &Grants,
    permissions: CallPermissions,
    request: &RequestLine<'_>,
    ip: IpAddr,
) -> Result<(), Denied> {
    let origin = request.origin;
    let at_address = Origin { host: ip_host(ip), ..origin.clone() };
    let line = RequestLine { origin: &at_address, ..request.clone() };
    if address::is_public(ip) || check_http(grants, permissions, &line).is_ok() {
        return Ok(());
    }
    let mut wanted = grants.clone();
    let is_read = HttpGrant::DEFAULT_METHODS.contains(request.method);
    let new = HttpGrant::read_only(at_address);
    wanted.http.push(match is_read {
        true => new,
        false => HttpGrant { methods: vec![request.method.clone()], is_address_only: false, ..new },
    });
    let access = format!("wanted {}, which leads to the private address {ip}", origin_text(origin));
    Err(Denied::needs(access, wanted))
}

/// Checks a secret in a part of a request. `matched` contains the grants that allow the request.
pub(crate) fn check_bound_secret(
    grants: &Grants,
    matched: &[HttpGrant],
    name: &str,
    place: &SecretPlace,
) -> Result<(), Denied> {
    let is_bound = |grant: &HttpGrant| {
        let is_named = grant.secrets.iter().any(|it| it == name);
        let fits = may_carry_secrets(&grant.origin) && grant.secret_places.contains(place);
        is_named && (fits || grant.secret_places.contains(&SecretPlace::Anywhere))
    };
    if matched.iter().any(is_bound) {
        return Ok(());
    }
    let mut wanted = grants.clone();
    let bound = matched.iter().position(|grant| grant.secrets.iter().any(|it| it == name)).unwrap_or(0);
    let grant = matched.get(bound).and_then(|of| wanted.http.iter_mut().find(|grant| *grant == of));
    let access = match grant {
        Some(grant) => {
            let access = format!("wanted to send the secret {name:?} in {place} to {}", origin_text(&grant.origin));
            if !may_carry_secrets(&grant.origin) {
                return Err(Denied::never(access, "secrets are sent by https, or by http to a loopback address"));
            }
            grant.is_address_only = false;
            if !grant.secrets.iter().any(|it| it == name) {
                grant.secrets.push(name.to_owned());
            }
            if !grant.secret_places.contains(place) {
                grant.secret_places.push(place.clone());
            }
            access
        }
        None => format!("wanted to send the secret {name:?} in {place}"),
    };
    if !grants.secrets_clear {
        wanted.secrets.retain(|it| it != name);
    }
    let was_bound = grants.secrets.iter().any(|it| it == name);
    let rule = if was_bound { DeniedBy::NarrowerGrants } else { DeniedBy::Grants };
    Err(Denied::needs(access, wanted).by(rule))
}

fn covers(grant: &HttpGrant, request: &RequestLine<'_>) -> bool {
    same_origin(&grant.origin, request.origin) && path_matches(&grant.path, request.path)
}

fn same_origin(grant: &Origin, origin: &Origin) -> bool {
    grant.scheme == origin.scheme && grant.port == origin.port && same_host(&grant.host, &origin.host)
}

/// Returns true if `path` is `prefix` or lies below it. A path that servers could read in different ways matches only
/// the prefix `/`.
fn path_matches(prefix: &str, path: &str) -> bool {
    if prefix == "/" {
        return true;
    }
    let below =
        path.strip_prefix(prefix).is_some_and(|rest| prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'));
    below && !is_ambiguous_path(path)
}

/// Returns true if two servers could read different segments from the path. Such a path contains, possibly
/// percent-encoded, a segment `.` or `..` (also with parameters), a `\`, a control character, or bytes that are not
/// UTF-8. An encoded `/` counts too.
pub fn is_ambiguous_path(path: &str) -> bool {
    let mut decoded = path.as_bytes().to_vec();
    // A server may decode a path that another server has already decoded.
    loop {
        let next = percent_decoded(&decoded);
        if next == decoded {
            break;
        }
        decoded = next;
    }
    let separators = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'/').count();
    let is_dots = |segment: &[u8]| matches!(segment.split(|byte| *byte == b';').next(), Some(b"." | b".."));
    let is_other = decoded.contains(&b'\\') || decoded.iter().any(u8::is_ascii_control);
    is_other
        || separators(&decoded) != separators(path.as_bytes())
        || std::str::from_utf8(&decoded).is_err()
        || decoded.split(|byte| *byte == b'/').any(is_dots)
}

/// Decodes each `%` with two hexadecimal digits once.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let escaped = match &text[at..] {
            [b'%', high, low, ..] => digit(*high).zip(digit(*low)).map(|(high, low)| 16 * high + low),
            _ => None,
        };
        decoded.push(escaped.unwrap_or(text[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}

fn displayed_url(request: &RequestLine<'_>) -> String {
    let path = if request.path.len() <= SHOWN_PATH_BYTES_MAX { request.path } else { "" };
    format!("{}{}", origin_text(request.origin), if path == "/" { "" } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(class: EffectClass) -> CallPermissions {
        CallPermissions { class, ..CallPermissions::READ_ONLY }
    }

    fn origin(text: &str) -> Origin {
        let (scheme, rest) = text.split_once("://").unwrap();
        let (host, port) = rest.rsplit_once(':').unwrap();
        Origin { scheme: scheme.into(), host: host.into(), port: port.parse().unwrap() }
    }

    fn table(text: &str, path: &str, methods: &[Method], read_methods: &[Method]) -> HttpGrant {
        HttpGrant {
            path: path.into(),
            methods: methods.to_vec(),
            read_methods: read_methods.to_vec(),
            is_address_only: false,
            ..HttpGrant::read_only(origin(text))
        }
    }

    fn check(
        grants: &Grants,
        permissions: CallPermissions,
        at: &str,
        path: &str,
        method: &Method,
    ) -> Result<(), Denied> {
        check_http(grants, permissions, &RequestLine { origin: &origin(at), path, method }).map(|_| ())
    }

    const A: &str = "https://a.example:443";

    #[test]
    fn http_matches_scheme_host_and_port() {
        let grants = Grants { http: vec![HttpGrant::read_only(origin(A))], kv: Some("m".into()), ..Grants::default() };
        assert_eq!(check(&grants, of(EffectClass::External), A, "/x", &Method::GET), Ok(()));
        for other in ["http://a.example:443", "https://b.example:443", "https://a.example:8443"] {
            let denied = check(&grants, of(EffectClass::External), other, "/x", &Method::GET).unwrap_err();
            let line = format!("grants = {{ http = [\"{A}\", \"{other}\"], kv = \"m\" }}");
            assert!(denied.log("p").contains(&line), "{}", denied.log("p"));
        }
    }

    /// I197. A grant opens the methods that it names, and an address alone opens `GET` and `HEAD`. Without external
    /// effects, an operator sends `GET`, `HEAD` and the methods that the administrator calls reads.
    #[test]
    fn methods_follow_from_the_grant_and_the_effects() {
        let all = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS];
        let short = HttpGrant::read_only(origin(A));
        let written = table(A, "/", &[Method::POST, Method::PUT], &[]);
        let search = table(A, "/", &[Method::GET, Method::PUT], &[Method::POST]);
        use EffectClass::{External, Internal, Read};
        for (grant, class, wanted) in [
            (&short, Read, "GET HEAD"),
            (&short, Internal, "GET HEAD"),
            (&short, External, "GET HEAD"),
            (&written, Read, ""),
            (&written, Internal, ""),
            (&written, External, "POST PUT"),
            (&search, Read, "GET POST"),
            (&search, Internal, "GET POST"),
            (&search, External, "GET POST PUT"),
        ] {
            let grants = Grants { http: vec![grant.clone()], ..Grants::default() };
            let allowed = |permissions| {
                let sent = all.iter().filter(|method| check(&grants, permissions, A, "/", method).is_ok());
                sent.map(Method::as_str).collect::<Vec<_>>().join(" ")
            };
            assert_eq!(allowed(of(class)), wanted, "{grant:?} {class:?}");
            let dry = allowed(CallPermissions { is_dry_run: true, ..of(class) });
            assert!(dry.split_whitespace().all(|method| ["GET", "HEAD"].contains(&method)), "{dry}");
        }
    }

    /// I198. A refusal contains a line of `latch.toml` that allows the request.
    #[test]
    fn refusal_names_the_grant_that_would_allow_the_request() {
        let grants = Grants { http: vec![table(A, "/v1/", &[Method::GET], &[])], ..Grants::default() };
        let message = |permissions, path, method| check(&grants, permissions, A, path, &method).unwrap_err().log("p");
        let text = message(of(EffectClass::External), "/v1/x", Method::POST);
        assert!(text.contains(r#"{ url = "https://a.example:443/v1/", methods = ["GET", "POST"] }"#), "{text}");
        let text = message(of(EffectClass::Internal), "/v1/x", Method::POST);
        assert!(text.contains(NO_EXTERNAL_EFFECT) && text.contains(IF_IT_READS), "{text}");
        assert!(text.contains(r#"methods = ["GET"], read_methods = ["POST"] }"#), "{text}");
        let text = message(of(EffectClass::Read), "/v2/x", Method::GET);
        let whole = r#"{ url = "https://a.example:443/v1/", methods = ["GET"] }, { url = "https://a.example:443/v2/x""#;
        assert!(text.contains(whole), "{text}");
        let text = message(of(EffectClass::Read), &format!("/v2/{}", "x".repeat(10_000)), Method::GET);
        assert!(text.len() < 1_000, "{} bytes", text.len());
    }

    /// I199. Of the older grants, only a grant of an address alone allowed more than today. A refusal makes a call wait
    /// only if such a grant allowed the access in earlier versions.
    #[test]
    fn narrower_rule_is_named_where_it_alone_refuses() {
        let short = Grants { http: vec![HttpGrant::read_only(origin(A))], ..Grants::default() };
        let long = Grants { http: vec![table(A, "/", &[Method::GET], &[])], ..Grants::default() };
        let stable = CallPermissions { is_stable: true, ..of(EffectClass::Read) };
        let rule = |grants, permissions, method| check(grants, permissions, A, "/", &method).unwrap_err().rule;
        for (permissions, method, wanted) in [
            (of(EffectClass::External), Method::POST, DeniedBy::NarrowerGrants),
            (of(EffectClass::Internal), Method::DELETE, DeniedBy::NarrowerGrants),
            (stable, Method::POST, DeniedBy::NarrowerGrants),
            (stable, Method::PUT, DeniedBy::Grants),
            (of(EffectClass::Read), Method::POST, DeniedBy::Grants),
            (of(EffectClass::Read), Method::OPTIONS, DeniedBy::NarrowerGrants),
        ] {
            assert_eq!(rule(&short, permissions, method.clone()), wanted, "{permissions:?} {method}");
            assert_eq!(rule(&long, permissions, method.clone()), DeniedBy::Grants, "{permissions:?} {method}");
        }
        let dry = CallPermissions { is_dry_run: true, ..stable };
        assert_eq!(rule(&short, dry, Method::POST), DeniedBy::DryRun);
    }

    #[test]
    fn paths_match_by_whole_segments() {
        for (prefix, path, matches) in [
            ("/", "/anything/../else", true),
            ("/v1", "/v1", true),
            ("/v1", "/v1/x", true),
            ("/v1", "/v1x", false),
            ("/v1/", "/v1", false),
            ("/v1/", "/v1/x/y", true),
            ("/v1/", "/v1/x%2ey", true),
            ("/v1/", "/v1/100%25", true),
            ("/v1/", "/v1/../admin", false),
            ("/v1/", "/v1/x/..", false),
            ("/v1/", "/v1/./x", false),
            ("/v1/", "/v1/%2e%2e/admin", false),
            ("/v1/", "/v1/%2E./admin", false),
            ("/v1/", "/v1/%252e%252e/admin", false),
            ("/v1/", "/v1/..;/admin", false),
            ("/v1/", "/v1/..%2fadmin", false),
            ("/v1/", "/v1/..%5cadmin", false),
            ("/v1/", "/v1/..%3b/admin", false),
            ("/v1/", "/v1/%25%32%65%2e/admin", false),
            ("/v1/", "/v1/%2%65%2%65/admin", false),
            ("/v1/", "/v1/x%252525252fy", false),
            ("/v1/", "/v1/x%00", false),
            ("/v1/", "/v1/x%ff", false),
            ("/v1/", "/v1/caf%c3%a9", true),
            ("/v1/", "/v1/a;b=c/d", true),
            ("/v1/", "/v1/..\\admin", false),
        ] {
            assert_eq!(path_matches(prefix, path), matches, "{prefix} {path}");
        }
    }

    /// I12, I197. A name that leads to a private address needs a grant of the address that allows the same request.
    #[test]
    fn private_addresses_need_a_grant_by_address() {
        let name = origin("http://intranet.example:80");
        let ip: IpAddr = "10.1.2.3".parse().unwrap();
        let line = |path, method| RequestLine { origin: &name, path, method };
        let get = line("/", &Method::GET);
        let by_name = Grants { http: vec![HttpGrant::read_only(name.clone())], ..Grants::default() };
        let external = of(EffectClass::External);
        let denied = check_http_address(&by_name, external, &get, ip).unwrap_err();
        assert!(denied.log("p").contains("http://10.1.2.3:80"));
        let at_address = HttpGrant::read_only(origin("http://10.1.2.3:80"));
        let by_address = Grants { http: vec![HttpGrant::read_only(name.clone()), at_address], ..Grants::default() };
        assert_eq!(check_http_address(&by_address, external, &get, ip), Ok(()));
        assert_eq!(check_http_address(&by_address, external, &get, "::ffff:10.1.2.3".parse().unwrap()), Ok(()));
        assert!(check_http_address(&by_address, external, &get, "10.1.2.4".parse().unwrap()).is_err());
        assert_eq!(check_http_address(&by_name, external, &get, "93.184.216.34".parse().unwrap()), Ok(()));
        // The grant of the name allows more than the grant of the address.
        let whole = table("http://intranet.example:80", "/", &[Method::GET, Method::POST], &[]);
        let part = table("http://10.1.2.3:80", "/public/", &[Method::GET], &[]);
        let both = Grants { http: vec![whole, part], ..Grants::default() };
        let allowed = |path, method| check_http_address(&both, external, &line(path, method), ip).is_ok();
        assert!(allowed("/public/x", &Method::GET));
        assert!(!allowed("/admin", &Method::GET) && !allowed("/public/x", &Method::POST));
    }
}
