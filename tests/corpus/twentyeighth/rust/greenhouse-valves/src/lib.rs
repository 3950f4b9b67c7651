//! Sends the watering plan of a greenhouse to its valves: one call for each run of a bed.

use std::collections::BTreeSet;

use latchwork_guest::{Determinism, Effect, Error, events, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Litres that a bed takes in one run before the substrate overflows.
const MOST_LITRES: u32 = 400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Run {
    bed: String,
    /// Local time at which the valve opens: `2026-06-03T05:30`.
    start: String,
    litres: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plan {
    house: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Booked {
    slot: String,
}

#[derive(Serialize, JsonSchema)]
struct Scheduled {
    bed: String,
    start: String,
    slot: String,
}

#[derive(Serialize, JsonSchema)]
struct Schedule {
    house: String,
    litres: u32,
    runs: Vec<Scheduled>,
}

/// Returns the day and the time of a start.
fn parts(start: &str) -> Option<(&str, &str)> {
    let (day, time) = start.split_once('T')?;
    let shaped = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(c, s)| if s == b'0' { c.is_ascii_digit() } else { c == s })
    };
    (shaped(day, "0000-00-00") && shaped(time, "00:00")).then_some((day, time))
}

fn schedule(plan: Plan, _: &step::Context) -> Result<Schedule, Error> {
    if plan.runs.is_empty() {
        return Err(Error::invalid_input("the plan has no runs"));
    }
    // Everything is checked before the first valve is booked.
    let mut seen = BTreeSet::new();
    let mut calls = Vec::new();
    for run in &plan.runs {
        let Some((day, time)) = parts(&run.start) else {
            return Err(Error::invalid_input(format!("{} is no local time", run.start)));
        };
        if run.litres == 0 || run.litres > MOST_LITRES {
            return Err(Error::invalid_input(format!("bed {} takes 1 to {MOST_LITRES} litres in a run", run.bed)));
        }
        if !seen.insert((run.bed.as_str(), day, time)) {
            return Err(Error::invalid_input(format!("bed {} has two runs at {}", run.bed, run.start)));
        }
        // A plan that is submitted again, by another job, must not water a bed twice. A JSON array keeps
        // "1" of house "A1" apart from "11" of house "A".
        let key = json!(["watering", plan.house, run.bed, day]).to_string();
        let args = json!({ "house": plan.house, "bed": run.bed, "start": run.start, "litres": run.litres });
        calls.push(tools::Call::new("Valve.Book", &args).action_key(key));
    }

    let mut runs = Vec::new();
    for (call, run) in calls.iter().zip(&plan.runs) {
        let booked: Booked = call.send().map_err(|error| error.context(format!("bed {} at {}", run.bed, run.start)))?;
        runs.push(Scheduled { bed: run.bed.clone(), start: run.start.clone(), slot: booked.slot });
    }
    let litres = plan.runs.iter().map(|run| run.litres).sum();
    let announced: Value = json!({ "house": plan.house, "runs": runs.len(), "litres": litres });
    events::emit("watering-scheduled", &announced)?;
    Ok(Schedule { house: plan.house, litres, runs })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Watering.Schedule", schedule)
            .describe("Books the runs of a watering plan at the valves of a greenhouse.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
