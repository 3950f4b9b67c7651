//! Orders print runs of posters at a print shop.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const RUNS: &str = "https://press.printshop.example/runs";
/// Most sheets of one run.
const SHEETS: u32 = 5_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Poster {
    /// Number of the artwork in the archive of the shop.
    artwork: String,
    paper: Paper,
    sheets: u32,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Paper {
    Matt,
    Gloss,
    Recycled,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ordered {
    run: String,
    sheets: u32,
}

#[derive(Deserialize)]
struct Run {
    id: String,
    /// Sheets that have left the press.
    #[serde(default)]
    printed: u32,
}

fn ordered(run: &Run, poster: &Poster) -> Output<Ordered> {
    Output::new(Ordered { run: run.id.clone(), sheets: poster.sheets })
        .receipt(json!({ "run": run.id }))
        .change(Change::new("run", &run.id, "create").external_ref(format!("{RUNS}/{}", run.id)))
}

/// Asks the shop for the run of a reference.
fn find(reference: &str) -> Result<Option<Run>, Error> {
    let response = Request::get(&format!("{RUNS}?reference={reference}")).timeout(Duration::from_secs(8)).send()?;
    match response.status() {
        200 => serde_json::from_slice(response.body())
            .map(Some)
            .map_err(|error| Error::schema_validation_failed(format!("the run of the shop: {error}"))),
        404 => Ok(None),
        status => Err(Error::temporary_provider_error(format!("the shop answers with {status}"))),
    }
}

fn order(poster: Poster, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if poster.artwork.trim().is_empty() {
        return Err(Error::invalid_input("the run has no artwork"));
    }
    if poster.sheets == 0 || poster.sheets > SHEETS {
        return Err(Error::invalid_input(format!("a run has 1 to {SHEETS} sheets")));
    }
    let reference = context.external_key();
    let body = json!({
        "reference": reference, "artwork": poster.artwork.trim(), "paper": poster.paper, "sheets": poster.sheets,
    });
    let response = Request::post(RUNS)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(8))
        .send()?;
    let status = response.status();
    match status {
        200..=299 => {
            let run = serde_json::from_slice(response.body()).map_err(|error| {
                Error::schema_validation_failed(format!("the answer of the shop: {error}")).applied_unknown()
            })?;
            Ok(ordered(&run, &poster))
        }
        409 | 412 => match find(reference).map_err(Error::applied_unknown)? {
            Some(run) => Ok(ordered(&run, &poster)),
            None => Err(Error::policy_denied("the shop refuses the run")),
        },
        429 => Err(Error::rate_limit("the shop takes no more orders this minute").retry_after(Duration::from_secs(60))),
        401 | 403 => Err(Error::auth_forbidden(format!("the shop refuses this customer with {status}"))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the shop refuses the run with {status}")))
        }
        _ => Err(Error::temporary_provider_error(format!("the shop answers with {status}")).applied_unknown()),
    }
}

/// A run counts from its first sheet.
fn reconcile(poster: Poster, key: &str) -> Result<Verdict<Output<Ordered>>, Error> {
    Ok(match find(key)? {
        Some(run) if run.printed > 0 => Verdict::Happened(ordered(&run, &poster)),
        _ => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Poster.Order", order)
            .describe("Orders a print run of a poster.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(120))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
