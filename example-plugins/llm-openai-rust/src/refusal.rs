//! Conversion of error responses of the provider to failures.

use std::time::Duration;

use latchwork_guest::{Error, http};
use serde_json::{Value, json};

/// Maximum length of the provider's error message, in characters.
const WORDS_MAX: usize = 300;

/// Returns the failure for the status of a response.
pub(crate) fn error(response: &http::Response) -> Error {
    let status = response.status();
    let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    let said = body.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
    let said: String = said.chars().take(WORDS_MAX).collect();
    let message = |hint: &str| match said.is_empty() {
        true => format!("the provider answered {status}{hint}"),
        false => format!("the provider answered {status}{hint}: {said}"),
    };
    let error = match status {
        // The provider's message is left out, because it may contain parts of the API key.
        401 | 403 => Error::auth_forbidden(format!("the provider answered {status}: it rejected the credentials")),
        408 => Error::network_timeout(message("")),
        429 => later(Error::rate_limit(message("")), response),
        500..=599 => later(Error::temporary_provider_error(message("")), response),
        300..=399 => Error::invalid_input(message(" (a redirect: correct base_url in the plugin's config)")),
        _ => Error::invalid_input(message("")),
    };
    let code = body.pointer("/error/code").or_else(|| body.pointer("/error/type")).and_then(Value::as_str);
    error.detail(json!({ "status": status, "provider_code": code, "provider_trace_id": trace_id(response) }))
}

/// Returns the provider's own id of the request.
pub(crate) fn trace_id(response: &http::Response) -> Option<String> {
    ["x-request-id", "request-id", "x-amzn-requestid"].iter().find_map(|name| response.header(name)).map(str::to_owned)
}

/// Returns `error` with the wait that the provider requests. If the response requests no wait, returns `error`
/// unchanged, and the host chooses the backoff.
fn later(error: Error, response: &http::Response) -> Error {
    let number = |name: &str| {
        response.header(name)?.trim().parse::<f64>().ok().filter(|wait| (0.0..=86_400_000.0).contains(wait))
    };
    let ms = number("retry-after-ms").or_else(|| Some(number("retry-after")? * 1000.0));
    match ms.map(|ms| Duration::from_secs_f64(ms / 1000.0)).or_else(|| until(response)) {
        Some(wait) => error.retry_after(wait),
        None => error,
    }
}

/// Returns the wait until the date in `Retry-After` (RFC 9110). The wait is measured from the date of the
/// response, so the clocks of provider and host need not agree.
fn until(response: &http::Response) -> Option<Duration> {
    let date = |name: &str| httpdate::parse_http_date(response.header(name)?.trim()).ok();
    Some(date("retry-after")?.duration_since(date("date")?).unwrap_or_default())
}
