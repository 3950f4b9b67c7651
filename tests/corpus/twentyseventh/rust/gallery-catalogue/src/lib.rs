//! Enters works into the catalogue of a gallery: the record first, then the text of its wall label.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const WORKS: &str = "https://catalogue.example/api/works";

#[derive(Deserialize, JsonSchema)]
struct Work {
    title: String,
    artist: String,
    year: u16,
    /// Text beside the work. The catalogue knows how much fits on the label of each wall.
    label: String,
    wall: String,
}

#[derive(Serialize, JsonSchema)]
struct Entered {
    record: String,
    wall: String,
}

#[derive(Deserialize)]
struct Record {
    id: String,
}

fn send(method: &str, url: &str, body: &serde_json::Value) -> Result<Response, Error> {
    Ok(Request::new(method, url)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(10))
        .send()?)
}

/// The failure of the first request, which creates the record.
fn not_created(answer: &Response) -> Error {
    let text = format!("the catalogue answered {}: {}", answer.status(), answer.text());
    match answer.status() {
        429 => Error::rate_limit(text),
        401 | 403 => Error::auth_forbidden(text),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(text),
        _ => Error::temporary_provider_error(text).applied_unknown(),
    }
}

/// Takes a record without a label out of the catalogue again, so that no unlabelled work hangs.
fn withdraw(record: &str) {
    match Request::new("DELETE", &format!("{WORKS}/{record}")).timeout(Duration::from_secs(10)).send() {
        Ok(answer) if matches!(answer.status(), 200 | 204) => log::info!("record {record} is withdrawn"),
        Ok(answer) => log::warn!("withdrawing record {record}: {}", answer.status()),
        Err(error) => log::warn!("withdrawing record {record}: {error}"),
    }
}

fn enter(work: Work, context: &tool::Context) -> Result<Output<Entered>, Error> {
    if work.title.trim().is_empty() || work.artist.trim().is_empty() {
        return Err(Error::invalid_input("a work has a title and an artist"));
    }
    if work.label.trim().is_empty() {
        return Err(Error::invalid_input("the label is empty"));
    }
    let body = json!({
        "title": work.title, "artist": work.artist, "year": work.year, "wall": work.wall,
        "reference": context.external_key(),
    });
    let created = send("POST", WORKS, &body)?;
    if !(200..=299).contains(&created.status()) {
        return Err(not_created(&created));
    }
    let record: Record = serde_json::from_slice(created.body()).map_err(|error| {
        Error::schema_validation_failed(format!("answer of the catalogue: {error}")).applied_unknown()
    })?;

    // From here on the record exists.
    let url = format!("{WORKS}/{}/label", record.id);
    let label = send("PUT", &url, &json!({ "text": work.label })).map_err(Error::applied_unknown)?;
    match label.status() {
        200..=299 => {
            let change = Change::new("work", &record.id, "create").external_ref(format!("{WORKS}/{}", record.id));
            Ok(Output::new(Entered { record: record.id, wall: work.wall }).change(change))
        }
        400 | 413 | 422 => {
            // The text does not fit. The author has to shorten it and enters the work again.
            withdraw(&record.id);
            Err(Error::invalid_input(format!("the label does not fit on wall {}: {}", work.wall, label.text())))
        }
        status => Err(Error::temporary_provider_error(format!("label of record {}: {status}", record.id))
            .applied_unknown()
            .detail(json!({ "record": record.id }))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Work.Enter", enter)
            .describe("Enters a work with its wall label into the catalogue.")
            .effects([Effect::ExternalWrite]),
    ],
}
