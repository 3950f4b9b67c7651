//! Writes the electronic tags on the drawers of a hardware store.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const TAGS: &str = "https://tags.store.example/drawers";
/// Bytes of text that one tag shows.
const SHOWN: usize = 200;
/// Bytes of text that the server keeps for a tag.
const KEPT: usize = 20_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tag {
    /// Drawer, such as `b-12`.
    drawer: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Written {
    drawer: String,
    /// Text that the tag showed before.
    before: String,
    /// Version of the tag since this call.
    version: String,
}

#[derive(Deserialize)]
struct Present {
    text: String,
}

/// State of a tag: its text, and the version that the server gives it. A new drawer has neither.
struct State {
    text: String,
    version: Option<String>,
}

fn address(drawer: &str) -> String {
    format!("{TAGS}/{drawer}")
}

fn version(response: &Response) -> Result<String, Error> {
    response.header("etag").map(str::to_owned).ok_or_else(|| Error::schema_validation_failed("the tag has no version"))
}

/// Reads a tag. Changes nothing, whatever the error.
fn read(drawer: &str) -> Result<State, Error> {
    let response = Request::get(&address(drawer))
        .timeout(Duration::from_secs(5))
        .send()
        .map_err(|error| Error::from(error).not_applied())?;
    match response.status() {
        200 => {
            let present: Present = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("the tag: {error}")).not_applied())?;
            Ok(State { text: present.text, version: Some(version(&response).map_err(Error::not_applied)?) })
        }
        404 => Ok(State { text: String::new(), version: None }),
        429 => Err(Error::rate_limit("the tag server is busy")),
        status => Err(Error::temporary_provider_error(format!("the tag has status {status}")).not_applied()),
    }
}

/// Writes a tag if it still has the version that was read.
fn put(drawer: &str, text: &str, version: Option<&str>) -> Result<Response, Error> {
    let request = Request::new("PUT", &address(drawer)).header("content-type", "application/json");
    let request = match version {
        Some(version) => request.header("if-match", version),
        None => request.header("if-none-match", "*"),
    };
    Ok(request.body(json!({ "text": text }).to_string()).timeout(Duration::from_secs(5)).send()?)
}

fn refused(status: u16) -> Error {
    match status {
        429 => Error::rate_limit("the tag server is busy"),
        401 | 403 => Error::auth_forbidden(format!("the tag server refuses this store with {status}")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Error::invalid_input(format!("the tag server refuses the text with {status}"))
        }
        _ => Error::temporary_provider_error(format!("the tag server answers with {status}")).applied_unknown(),
    }
}

fn write(tag: Tag, _: &tool::Context) -> Result<Output<Written>, Error> {
    let is_drawer = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if tag.drawer.is_empty() || tag.drawer.len() > 20 || !tag.drawer.chars().all(is_drawer) {
        return Err(Error::invalid_input(format!("{:?} is no drawer", tag.drawer)));
    }
    if tag.text.is_empty() || tag.text.len() > SHOWN {
        return Err(Error::invalid_input(format!("a tag shows 1 to {SHOWN} bytes")));
    }
    let before = read(&tag.drawer)?;
    if before.text.len() > KEPT {
        return Err(Error::policy_denied("the text on the tag is too long to be kept"));
    }
    let response = put(&tag.drawer, &tag.text, before.version.as_deref())?;
    match response.status() {
        200..=299 => {
            let version = version(&response).map_err(Error::applied_unknown)?;
            let change = Change::new("tag", &tag.drawer, "update").etag(&version).external_ref(address(&tag.drawer));
            Ok(Output::new(Written { drawer: tag.drawer, before: before.text, version }).change(change))
        }
        409 | 412 => {
            let present = read(&tag.drawer).map_err(Error::applied_unknown)?;
            let error = Error::policy_denied("another clerk has written the tag");
            Err(if present.text == tag.text { error.applied_unknown() } else { error })
        }
        status => Err(refused(status)),
    }
}

/// Puts the earlier text back, unless the tag was written since.
fn restore(tag: Tag, written: Written, _: &str) -> Result<Output<()>, Error> {
    let response = put(&tag.drawer, &written.before, Some(&written.version))?;
    match response.status() {
        200..=299 => Ok(Output::new(()).change(Change::new("tag", &tag.drawer, "update"))),
        404 | 409 | 410 | 412 => Err(Error::policy_denied("the tag was written since")),
        status => Err(refused(status)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Drawer.Tag", write)
            .describe("Writes the tag of a drawer.")
            .effects([Effect::ExternalWrite])
            .compensate(restore),
    ],
    exports: [compensate],
}
