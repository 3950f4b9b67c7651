//! `Lichen.Register`: registers the lichens of a tree with the server of a survey.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PLOTS: &str = "https://lichen.example/plots";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plot {
    /// The square is one of the national grid, such as `NT 2673`.
    square: String,
    tree: String,
    species: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Registered {
    id: String,
    square: String,
}

/// This is an entry of the server.
#[derive(Deserialize)]
struct Entry {
    id: String,
}

fn register(plot: Plot, context: &tool::Context) -> Result<Output<Registered>, Error> {
    if plot.square.trim().is_empty() || plot.tree.trim().is_empty() {
        return Err(Error::invalid_input("a plot needs a square and a tree"));
    }
    if plot.species.is_empty() || plot.species.len() > 300 {
        return Err(Error::invalid_input("species: 1 to 300 names"));
    }
    let key = context.external_key();
    let body = json!({ "ref": key, "square": plot.square, "tree": plot.tree, "species": plot.species });
    let response = http::Request::post(PLOTS)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(10))
        .send()?;
    match response.status() {
        200 | 201 => Ok(registered(plot, entry(&response)?)),
        // The square can be taken by an earlier try of this call, or by another observer.
        409 => match find(key).map_err(Error::applied_unknown)? {
            Some(entry) => Ok(registered(plot, entry)),
            None => Err(Error::policy_denied(format!("square {} has another plot on this tree", plot.square))),
        },
        401 | 403 => Err(Error::auth_forbidden("the survey refused the observer")),
        429 => Err(Error::rate_limit("the survey limits the rate of requests")),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => {
            Err(Error::invalid_input(format!("the survey refused the plot: {status}")))
        }
        status => Err(Error::temporary_provider_error(format!("the survey answered {status}"))),
    }
}

/// The host calls this function after a crash. It asks the survey for the plot of the call.
fn reconcile(plot: Plot, key: &str) -> Result<Verdict<Output<Registered>>, Error> {
    Ok(match find(key)? {
        Some(entry) => Verdict::Happened(registered(plot, entry)),
        None => Verdict::DidNotHappen,
    })
}

/// Returns the plot that was registered with the key, or `None` if the survey has no such plot.
fn find(key: &str) -> Result<Option<Entry>, Error> {
    let response = http::Request::get(&format!("{PLOTS}/by-ref?ref={key}")).timeout(Duration::from_secs(10)).send()?;
    match response.status() {
        200 => Ok(Some(entry(&response)?)),
        404 | 410 => Ok(None),
        status => Err(Error::dependency_unavailable(format!("the survey answered {status}"))),
    }
}

fn entry(response: &http::Response) -> Result<Entry, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("answer of the survey: {error}")))
}

fn registered(plot: Plot, entry: Entry) -> Output<Registered> {
    let change = Change::new("plot", entry.id.clone(), "create");
    Output::new(Registered { id: entry.id, square: plot.square }).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Lichen.Register", register)
            .describe("Registers the lichens of a tree with a survey.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
