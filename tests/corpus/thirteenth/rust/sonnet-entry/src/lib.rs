//! `Sonnet.Enter`: enters a sonnet in a contest. After a lost answer, the list of the contest tells whether the entry
//! arrived.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ENTRIES: &str = "https://contest.example/entries";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sonnet {
    #[schemars(length(min = 1, max = 60))]
    poet: String,
    #[schemars(length(min = 1, max = 120))]
    title: String,
    #[schemars(length(equal = 14))]
    lines: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Entered {
    number: u32,
}

/// An entry in the list of the contest.
#[derive(Deserialize)]
struct Entry {
    number: u32,
    poet: String,
    title: String,
}

fn entered(number: u32) -> Output<Entered> {
    Output::new(Entered { number })
        .receipt(json!({ "number": number }))
        .change(Change::new("entry", number.to_string(), "create").external_ref(format!("{ENTRIES}/{number}")))
}

fn token() -> Result<String, Error> {
    Ok(format!("Bearer {}", secrets::get("CONTEST_TOKEN")?))
}

fn enter(sonnet: Sonnet, context: &tool::Context) -> Result<Output<Entered>, Error> {
    if sonnet.lines.len() != 14 || sonnet.lines.iter().any(|line| line.trim().is_empty()) {
        return Err(Error::invalid_input("a sonnet has fourteen lines"));
    }
    let response = Request::post(ENTRIES)
        .header("authorization", &token()?)
        .header("content-type", "application/json")
        .header("x-request-id", context.external_key())
        .body(json!({ "poet": sonnet.poet, "title": sonnet.title, "text": sonnet.lines.join("\n") }).to_string())
        .send()?;
    match response.status() {
        200..=299 => {
            let entry: Entered = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("unreadable entry: {error}")))?;
            Ok(entered(entry.number))
        }
        401 | 403 => Err(Error::auth_forbidden("the contest does not accept the token")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(response.text())),
        429 => Err(Error::rate_limit("too many entries")),
        status => Err(Error::temporary_provider_error(format!("the contest answered {status}"))),
    }
}

fn reconcile(sonnet: Sonnet, _key: &str) -> Result<Verdict<Output<Entered>>, Error> {
    let response = Request::get(ENTRIES).header("authorization", &token()?).send()?;
    if response.status() != 200 {
        return Err(Error::temporary_provider_error(format!("the list answered {}", response.status())));
    }
    let entries: Vec<Entry> = serde_json::from_slice(response.body())
        .map_err(|error| Error::temporary_provider_error(format!("unreadable list: {error}")))?;
    let own = entries.iter().find(|entry| entry.poet == sonnet.poet && entry.title == sonnet.title);
    Ok(match own {
        Some(entry) => Verdict::Happened(entered(entry.number)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sonnet.Enter", enter)
            .describe("Enters a sonnet in a contest.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
