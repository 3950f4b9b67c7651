//! `[notify]`: the webhook for jobs that wait for a person or have ended.

use std::collections::BTreeSet;
use std::net::IpAddr;

use hyper::Uri;

use latchwork_core::response::notice::NoticeKind;
use latchwork_engine::capability::grants::Origin;

use super::plugin::positive_duration;
use super::{headers, values};
use crate::config::types::NotifyConfig;
use crate::located_toml::{TableReader, TomlField};

/// Default timeout of one post, in milliseconds.
const TIMEOUT_MS: u32 = 10_000;

/// Reads the table `[notify]`. Returns `None` if the table has no valid webhook.
pub(super) fn read(mut table: TableReader<'_>) -> Option<NotifyConfig> {
    let allow_http = table.get("allow_http").and_then(|field| field.boolean()).unwrap_or(false);
    let webhook = table.require("webhook").and_then(|field| field.parse(|text| webhook(text, allow_http)));
    let headers = table.get("headers").and_then(|field| field.table()).map(|table| headers::read(table, None));
    let timeout_ms = table.get("timeout").and_then(|field| field.parse(positive_duration)).unwrap_or(TIMEOUT_MS);
    let events = table.get("events").map(|field| events(&field)).unwrap_or_else(|| NoticeKind::ALL.into());
    table.finish();
    let (uri, place) = webhook?;
    Some(NotifyConfig {
        webhook: uri,
        origin: place,
        headers: headers.unwrap_or_default(),
        timeout_ms,
        events,
        flags: String::new(),
    })
}

/// Reads the events that are posted. At least one event is required.
fn events(field: &TomlField<'_>) -> BTreeSet<NoticeKind> {
    let words = NoticeKind::ALL.map(|kind| (kind.as_str(), kind));
    let events: BTreeSet<NoticeKind> = field.list(|item| item.choice(&words)).into_iter().collect();
    if field.value().as_array().is_some_and(|items| items.is_empty()) {
        let _: Option<()> = field.invalid("`events` is empty: name at least one event, or remove `[notify]`");
    }
    events
}

/// Parses a webhook URL. Messages do not repeat the URL, because the path of a webhook is often its secret.
fn webhook(text: &str, allow_http: bool) -> Result<(Uri, Origin), String> {
    let form = "write \"https://hooks.example.com/latch\"";
    let uri: Uri = text.parse().map_err(|_| format!("this is not a URL: {form}"))?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(format!("the URL has no scheme and host: {form}"));
    };
    if authority.as_str().contains('@') {
        return Err("a user name or password is not allowed in the URL: use `headers`".to_owned());
    }
    let (place, _) = values::http_url(&format!("{scheme}://{authority}"), false)
        .map_err(|_| format!("the scheme, host or port of the URL is invalid: {form}"))?;
    if place.scheme == "http" && !allow_http && !is_loopback(&place.host) {
        return Err("`http` is not encrypted: use `https`, or set `allow_http = true`".to_owned());
    }
    Ok((uri, place))
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}
