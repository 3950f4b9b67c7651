//! `Notice.Pin`: pins a notice to the electronic board of a parish.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Notices of the board. The board answers a `POST` after the notice is on display.
const NOTICES: &str = "https://board.parish.example/notices";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    title: String,
    text: String,
    /// Last day on the board: `2026-03-01`.
    until: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Pinned {
    /// Number of the notice on the board.
    notice: String,
}

/// A notice in the list of the board.
#[derive(Deserialize)]
struct Listed {
    id: String,
    title: String,
    until: String,
}

#[derive(Deserialize)]
struct Created {
    id: String,
}

fn pin(args: Args, context: &tool::Context) -> Result<Output<Pinned>, Error> {
    if args.title.trim().is_empty() || args.title.chars().count() > 80 {
        return Err(Error::invalid_input("title: 1 to 80 characters"));
    }
    if !day(&args.until) {
        return Err(Error::invalid_input("until: a day such as 2026-03-01"));
    }
    let body = json!({ "title": args.title, "text": args.text, "until": args.until });
    let response = http::Request::post(NOTICES)
        .header("authorization", &format!("Bearer {}", secrets::get("BOARD_TOKEN")?))
        .header("content-type", "application/json")
        .timeout(context.timeout().mul_f32(0.8))
        .body(body.to_string())
        .send()?;
    let said = format!("the board answered {}", response.status());
    match response.status() {
        200..=299 => {}
        401 | 403 => return Err(Error::auth_forbidden(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => return Err(Error::invalid_input(said)),
        429 => return Err(Error::rate_limit(said)),
        _ => return Err(Error::temporary_provider_error(said)),
    }
    let created: Created = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the board's answer has no number: {error}")))?;
    Ok(pinned(created.id))
}

/// Returns true for a date in the form of year, month and day.
fn day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = parts.iter().all(|part| part.chars().all(|c| c.is_ascii_digit()));
    digits && parts.iter().map(|part| part.len()).eq([4, 2, 2])
}

/// Looks for the notice on the board.
fn find(args: Args, _key: &str) -> Result<Verdict<Output<Pinned>>, Error> {
    let response = http::Request::get(NOTICES)
        .header("authorization", &format!("Bearer {}", secrets::get("BOARD_TOKEN")?))
        .timeout(Duration::from_secs(20))
        .send()?;
    if response.status() != 200 {
        return Err(Error::dependency_unavailable(format!("the board answered {}", response.status())));
    }
    let listed: Vec<Listed> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("no list of notices: {error}")))?;
    let own = listed.into_iter().find(|notice| notice.title == args.title && notice.until == args.until);
    Ok(match own {
        Some(notice) => Verdict::Happened(pinned(notice.id)),
        None => Verdict::DidNotHappen,
    })
}

fn pinned(notice: String) -> Output<Pinned> {
    let change = Change::new("notice", &notice, "create").external_ref(format!("{NOTICES}/{notice}"));
    Output::new(Pinned { notice: notice.clone() }).receipt(json!({ "notice": notice })).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Notice.Pin", pin)
            .describe("Pins a notice to the board of a parish.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
