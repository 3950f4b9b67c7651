//! Reads the water levels of several stations. A station that does not answer is asked once more at the archive. The
//! report has an id and a time, and its order is that of the request.

use latchwork_guest::{Code, Determinism, Error, clock, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Watch {
    stations: Vec<String>,
}

#[derive(Deserialize)]
struct Reading {
    centimetres: i32,
}

#[derive(Serialize, JsonSchema)]
struct Level {
    station: String,
    centimetres: Option<i32>,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    id: String,
    at: String,
    levels: Vec<Level>,
}

fn is_temporary(error: &Error) -> bool {
    matches!(error.code(), Code::NetworkTimeout | Code::TemporaryProviderError | Code::DependencyUnavailable)
}

fn watch(input: Watch, _: &step::Context) -> Result<Report, Error> {
    if input.stations.is_empty() || input.stations.len() > 20 {
        return Err(Error::invalid_input("1 to 20 stations are read"));
    }
    let calls: Vec<_> =
        input.stations.iter().map(|station| tools::Call::new("Tide.Level", &json!({ "station": station }))).collect();
    let answers: Vec<Result<Reading, Error>> = tools::call_all(calls);
    let mut levels = Vec::new();
    for (station, answer) in input.stations.into_iter().zip(answers) {
        let answer = match answer {
            Err(error) if is_temporary(&error) => tools::call("Tide.Archive", &json!({ "station": station })),
            answer => answer,
        };
        let centimetres = answer.ok().map(|reading: Reading| reading.centimetres);
        levels.push(Level { station, centimetres });
    }
    if levels.iter().all(|level| level.centimetres.is_none()) {
        return Err(Error::dependency_unavailable("no station has a level"));
    }
    Ok(Report { id: rng::uuid(), at: clock::now().to_string(), levels })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Tide.Watch", watch)
            .describe("Reads the water levels of several stations.")
            .determinism(Determinism::External),
    ],
}
