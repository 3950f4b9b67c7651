//! Reads `grants` of a `[[plugin]]`.

use std::collections::BTreeSet;
use std::path::Path;

use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderName};

use latchwork_engine::capability::grant::may_carry_secrets;
use latchwork_engine::capability::grants::{DirGrant, Grants, HttpGrant, KvGrant, SecretPlace};
use latchwork_engine::capability::http_grant::METHODS;

use crate::config::{headers, values};
use crate::located_toml::{TableReader, TomlField};

pub(super) fn read(mut table: TableReader<'_>, root: &Path) -> Grants {
    let mut guests = BTreeSet::new();
    let grants = Grants {
        http: table.get("http").map(|list| list.list(http)).unwrap_or_default(),
        tcp: table.get("tcp").map(|list| list.list(|f| f.parse(values::tcp_grant))).unwrap_or_default(),
        dirs: table.get("dirs").map(|list| list.list(|f| dir(f, root, &mut guests))).unwrap_or_default(),
        dir_bytes: table.get("dir_bytes").and_then(|field| field.parse(dir_bytes)),
        secrets: table.get("secrets").map(|list| list.list(|f| f.parse(secret_name))).unwrap_or_default(),
        secrets_clear: table.get("secrets_clear").and_then(|f| f.boolean()).unwrap_or(false),
        kv: table.get("kv").and_then(kv),
    };
    table.finish();
    grants
}

/// Reads one HTTP grant: an address, or a table.
fn http(field: TomlField<'_>) -> Option<HttpGrant> {
    if field.value().as_str().is_some() {
        let (origin, _) = field.parse(|text| values::http_url(text, false))?;
        return Some(HttpGrant::read_only(origin));
    }
    let mut table = field.table()?;
    let url = table.require("url").and_then(|field| field.parse(|text| values::http_url(text, true)));
    let methods = table.get("methods").map(|list| methods(&list));
    let read_methods = table.get("read_methods").map(|list| methods_of(&list)).unwrap_or_default();
    let given = table.get("secrets");
    let secrets = given.as_ref().map(|list| list.list(|f| f.parse(secret_name))).unwrap_or_default();
    let places = table.get("in");
    if let (Some(field), true) = (&places, secrets.is_empty()) {
        field.invalid::<()>("`in` names the places of secrets, but the grant names no `secrets`");
    }
    let secret_places = match &places {
        Some(list) => list.list(|field| field.parse(secret_place)),
        None if secrets.is_empty() => vec![],
        None => vec![SecretPlace::Header(AUTHORIZATION)],
    };
    if let (Some((origin, _)), Some(field), false) = (&url, &given, secrets.is_empty())
        && !may_carry_secrets(origin)
    {
        field.invalid::<()>("secrets are not sent unencrypted: use `https`, or a loopback address such as 127.0.0.1");
    }
    table.finish();
    let (origin, path) = url?;
    Some(HttpGrant {
        origin,
        path,
        methods: methods.unwrap_or_else(|| HttpGrant::DEFAULT_METHODS.to_vec()),
        read_methods,
        secrets,
        secret_places,
        is_address_only: false,
    })
}

/// Reads `methods`, which names at least one method.
fn methods(list: &TomlField<'_>) -> Vec<Method> {
    if list.value().as_array().is_some_and(|items| items.is_empty()) {
        list.invalid::<()>("`methods` is empty: name at least one method, or remove the grant");
    }
    methods_of(list)
}

fn methods_of(list: &TomlField<'_>) -> Vec<Method> {
    const NAMES: [&str; 7] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
    let methods: Vec<(&str, Method)> = NAMES.into_iter().zip(METHODS).collect();
    let mut found: Vec<Method> = Vec::new();
    for method in list.list(|field| field.choice(&methods)) {
        if !found.contains(&method) {
            found.push(method);
        }
    }
    found
}

/// Parses the name of a part of a request into which secrets are inserted: `header:NAME` or `body`.
fn secret_place(text: &str) -> Result<SecretPlace, String> {
    let form = "write \"header:authorization\", with the name of any header, or \"body\"";
    match text.split_once(':') {
        None if text == "body" => Ok(SecretPlace::Body),
        Some(("header", name)) => match name.parse::<HeaderName>() {
            Ok(name) if headers::OWN_HEADERS.contains(&name.as_str()) => Err(format!("`{name}` is set by the host")),
            Ok(name) => Ok(SecretPlace::Header(name)),
            Err(_) => Err(format!("`{name}` is not a valid header name: {form}")),
        },
        _ => Err(format!("`{text}` is not a part of a request: {form}")),
    }
}

fn dir(field: TomlField<'_>, root: &Path, guests: &mut BTreeSet<String>) -> Option<DirGrant> {
    let mut table = field.table()?;
    let host = table.require("host").and_then(|field| field.string()).map(|path| values::absolute(root, path));
    let guest = table.require("guest").and_then(|field| {
        let guest = field.parse(values::guest_path)?;
        if !guests.insert(guest.clone()) {
            return field.invalid(format!("duplicate guest path `{guest}`: each directory needs its own path"));
        }
        Some(guest)
    });
    let write = table.get("write").and_then(|field| field.boolean()).unwrap_or(false);
    table.finish();
    Some(DirGrant { host: host?, guest: guest?, write })
}

fn dir_bytes(text: &str) -> Result<u64, String> {
    values::byte_size_between(text, 1, Grants::DIR_BYTES_MAX)
}

/// Reads the grant of a key-value map: a name, or a table.
fn kv(field: TomlField<'_>) -> Option<KvGrant> {
    if field.value().as_str().is_some() {
        return field.parse(values::plugin_name).map(KvGrant::named);
    }
    let mut table = field.table()?;
    let name = table.require("name").and_then(|field| field.parse(values::plugin_name));
    let is_shared = table.get("shared").and_then(|field| field.boolean()).unwrap_or(false);
    let size = |text: &str| values::byte_size_between(text, 1, KvGrant::BYTES_MAX);
    let bytes = table.get("bytes").and_then(|field| field.parse(size)).unwrap_or(KvGrant::DEFAULT_BYTES);
    table.finish();
    Some(KvGrant { name: name?, is_shared, bytes })
}

/// Parses the name of a secret. The name must be a valid name of an environment variable, because the value may come
/// from such a variable.
fn secret_name(text: &str) -> Result<String, String> {
    let fits = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if (1..=128).contains(&text.len()) && fits && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    // The message does not repeat the text. The user may have written the secret in place of its name by mistake.
    Err("invalid secret name: use letters, digits and `_`, such as \"MAIL_TOKEN\"; never write the secret itself into this file".into())
}
