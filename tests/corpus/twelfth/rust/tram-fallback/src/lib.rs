//! `Tram.Connect`: finds the longest waiting times at a tram stop. Takes yesterday's timetable if today's is missing.

use std::collections::HashMap;

use latchwork_guest::{Code, Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Calls of the live timetable before the archive is asked.
const TRIES: u32 = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stop {
    stop: String,
}

#[derive(Deserialize)]
struct Departure {
    line: String,
    /// Minute of the day.
    minute: u16,
}

#[derive(Deserialize)]
struct Timetable {
    departures: Vec<Departure>,
}

#[derive(Serialize, JsonSchema)]
struct Wait {
    line: String,
    trams: usize,
    longest_wait: u16,
}

#[derive(Serialize, JsonSchema)]
struct Waits {
    stop: String,
    is_live: bool,
    lines: Vec<Wait>,
}

fn passes(code: Code) -> bool {
    matches!(code, Code::NetworkTimeout | Code::TemporaryProviderError | Code::DependencyUnavailable | Code::RateLimit)
}

fn timetable(stop: &str) -> Result<(Timetable, bool), Error> {
    for number in 1..=TRIES {
        match tools::call::<_, Timetable>("Depot.Timetable", &json!({ "stop": stop })) {
            Ok(found) => return Ok((found, true)),
            Err(error) if passes(error.code()) => log::warn!("try {number}: {error}"),
            Err(error) => return Err(error),
        }
    }
    Ok((tools::call("Archive.Timetable", &json!({ "stop": stop }))?, false))
}

fn connect(input: Stop, _: &step::Context) -> Result<Waits, Error> {
    let (timetable, is_live) = timetable(&input.stop)?;
    let mut minutes: HashMap<String, Vec<u16>> = HashMap::new();
    for departure in timetable.departures {
        minutes.entry(departure.line).or_default().push(departure.minute);
    }
    let mut lines = Vec::new();
    for (line, mut times) in minutes {
        times.sort_unstable();
        let longest_wait = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        lines.push(Wait { line, trams: times.len(), longest_wait });
    }
    // Each line occurs once, so this order is complete.
    lines.sort_by(|a, b| b.longest_wait.cmp(&a.longest_wait).then_with(|| a.line.cmp(&b.line)));
    Ok(Waits { stop: input.stop, is_live, lines })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Tram.Connect", connect)
            .describe("Finds the longest waiting times at a tram stop.")
            .determinism(Determinism::External),
    ],
}
