//! Notices to mariners on the coast authority's pages, one page for each light.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const PAGES: &str = "https://coast.example/notices/";
const TEXT_BYTES_MAX: usize = 4_000;

#[derive(Deserialize, JsonSchema)]
struct Notice {
    /// Name of the light in the list of lights: `skerry-point`.
    light: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    page: String,
    created: bool,
}

fn page(light: &str) -> Result<String, Error> {
    let fits = !light.is_empty() && light.len() <= 60 && light.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    if !fits {
        return Err(Error::invalid_input(format!("{light:?} is no name in the list of lights")));
    }
    Ok(format!("{PAGES}{light}"))
}

fn refused(answer: &Response) -> Error {
    let text = format!("the coast authority answered {}: {}", answer.status(), answer.text());
    match answer.status() {
        429 => {
            let error = Error::rate_limit(text);
            match answer.header("retry-after").and_then(|wait| wait.parse().ok()) {
                Some(seconds) => error.retry_after(Duration::from_secs(seconds)),
                None => error,
            }
        }
        401 | 403 => Error::auth_forbidden(text),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(text),
        _ => Error::temporary_provider_error(text).applied_unknown(),
    }
}

fn show(notice: Notice, _: &tool::Context) -> Result<Output<Shown>, Error> {
    let url = page(&notice.light)?;
    let text = notice.text.trim();
    if text.is_empty() || text.len() > TEXT_BYTES_MAX {
        return Err(Error::invalid_input(format!("a notice has 1 to {TEXT_BYTES_MAX} bytes")));
    }
    let answer = Request::new("PUT", &url)
        .header("content-type", "text/plain; charset=utf-8")
        .body(text)
        .timeout(Duration::from_secs(15))
        .send()?;
    if !(200..=299).contains(&answer.status()) {
        return Err(refused(&answer));
    }
    let created = answer.status() == 201;
    let operation = if created { "create" } else { "update" };
    let mut change = Change::new("notice", &notice.light, operation).external_ref(&url);
    // The tag names this very version of the page, so a later edit by the watch officer is seen.
    if let Some(tag) = answer.header("etag") {
        change = change.etag(tag);
    }
    Ok(Output::new(Shown { page: url, created }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let url = change.external_ref.as_deref().unwrap_or_default();
    let answer = Request::get(url).timeout(Duration::from_secs(10)).send()?;
    match answer.status() {
        200 => match answer.header("etag") {
            Some(tag) => Ok(Finding::compare(change.etag.as_deref(), tag)),
            None if change.etag.is_none() => Ok(Finding::Confirmed),
            None => Err(Error::dependency_unavailable(format!("{url} has no tag at present"))),
        },
        404 | 410 => Ok(Finding::Mismatch("the notice was taken down".into())),
        status => Err(Error::dependency_unavailable(format!("{url} cannot be read: {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Notice.Show", show)
            .describe("Shows a notice on the page of a light.")
            .effects([Effect::ExternalWrite])
            .verify(verify),
    ],
    exports: [verify],
}
