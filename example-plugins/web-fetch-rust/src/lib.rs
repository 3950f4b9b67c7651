//! `Web.Fetch`: fetches a page over HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use latchwork_guest::{Effect, Error, http, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Response headers that are returned. Other headers are dropped, because they differ between requests.
const HEADERS: [&str; 5] = ["content-type", "content-language", "etag", "last-modified", "location"];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// URL of the page: `https://example.com/page`.
    url: String,
    /// Maximum size of the body in bytes. A larger body is an error.
    #[serde(default = "limit")]
    max_bytes: u32,
}

fn limit() -> u32 {
    512 * 1024
}

#[derive(Debug, Serialize, JsonSchema)]
struct Page {
    url: String,
    status: u16,
    headers: BTreeMap<String, String>,
    /// Body as text. Invalid UTF-8 is replaced by U+FFFD.
    text: String,
}

fn fetch(args: Args, context: &tool::Context) -> Result<tool::Output<Page>, Error> {
    let response = http::Request::get(&args.url)
        .header("accept", "text/html, text/plain, application/json;q=0.9, */*;q=0.1")
        .header("user-agent", concat!("latchwork-web-fetch/", env!("CARGO_PKG_VERSION")))
        // The request must end before the host stops the call. A slow request then fails with a specific failure code.
        .timeout(context.timeout().mul_f32(0.8))
        .limit(args.max_bytes as usize)
        .send()?;
    let said = format!("{} answered {}", args.url, response.status());
    match response.status() {
        429 => return Err(wait(Error::rate_limit(said), &response)),
        401 | 403 => return Err(Error::auth_forbidden(said)),
        500..=599 => return Err(wait(Error::temporary_provider_error(said).not_applied(), &response)),
        _ => {}
    }
    let kept = |name: &str| Some((name.to_owned(), response.header(name)?.to_owned()));
    Ok(tool::Output::new(Page {
        status: response.status(),
        headers: HEADERS.into_iter().filter_map(kept).collect(),
        text: response.text().into_owned(),
        url: args.url,
    }))
}

/// Returns `error`, with the wait that the server requests in `Retry-After` if there is such a wait.
fn wait(error: Error, response: &http::Response) -> Error {
    let seconds = response.header("retry-after").and_then(|value| value.trim().parse().ok());
    match seconds.map(Duration::from_secs).or_else(|| until(response)) {
        Some(wait) => error.retry_after(wait),
        None => error,
    }
}

/// Returns the wait until the date in `Retry-After` (RFC 9110). The wait is measured from the date of the
/// response, so the clocks of server and host need not agree.
fn until(response: &http::Response) -> Option<Duration> {
    let date = |name: &str| httpdate::parse_http_date(response.header(name)?.trim()).ok();
    Some(date("retry-after")?.duration_since(date("date")?).unwrap_or_default())
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Web.Fetch", fetch)
            .describe("Fetches a page of a granted host over HTTP.")
            .effects([Effect::ReadOnly]),
    ],
}

#[cfg(test)]
mod tests {
    use latchwork_guest::testing::Host;
    use latchwork_guest::{Applied, Code};

    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)]) -> Result<tool::Output<Page>, Error> {
        let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let host = Host::new().http(move |_| Ok(http::Response::new(status, headers.clone(), b"body".to_vec())));
        let args = Args { url: "https://example.com/".into(), max_bytes: limit() };
        host.run(|| fetch(args, &tool::Context::default()))
    }

    #[test]
    fn fetch_returns_selected_headers() {
        let output = answer(200, &[("ETag", "\"1\""), ("set-cookie", "x")]).unwrap();
        let page = output.result();
        assert_eq!((page.status, page.text.as_str()), (200, "body"));
        assert_eq!(page.headers, BTreeMap::from([("etag".into(), "\"1\"".into())]));
        assert_eq!(answer(404, &[]).unwrap().result().status, 404);
    }

    #[test]
    fn temporary_errors_carry_retry_after() {
        let slow = answer(429, &[("retry-after", "7")]).unwrap_err();
        assert_eq!(slow, Error::rate_limit(slow.message()).retry_after(Duration::from_secs(7)));
        let dates = [("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")];
        let slow = answer(503, &dates).unwrap_err();
        assert_eq!(
            slow,
            Error::temporary_provider_error(slow.message()).not_applied().retry_after(Duration::from_secs(60))
        );
        let down = answer(503, &[]).unwrap_err();
        assert_eq!((down.code(), down.applied()), (Code::TemporaryProviderError, Applied::No));
        assert_eq!(answer(403, &[]).unwrap_err().code(), Code::AuthForbidden);
    }
}
