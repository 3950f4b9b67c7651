//! `Compost.Rate`: rates a compost heap by the readings of its probe.

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Heap {
    heap: String,
}

/// This is the answer of `Heap.Readings`.
#[derive(Deserialize)]
struct Readings {
    readings: Vec<Reading>,
}

#[derive(Deserialize)]
struct Reading {
    celsius: f64,
    moisture: f64,
    ph: f64,
}

#[derive(Serialize, JsonSchema)]
struct Rating {
    heap: String,
    /// The points for heat, moisture and acidity are added.
    #[schemars(range(max = 100))]
    points: u32,
    /// The stars are for the sign at the heap.
    #[schemars(range(min = 1, max = 5))]
    stars: u32,
    advice: Vec<String>,
}

fn rate(input: Heap, _: &step::Context) -> Result<Rating, Error> {
    if input.heap.is_empty() {
        return Err(Error::invalid_input("heap: no name"));
    }
    let answer: Readings = tools::call("Heap.Readings", &json!({ "heap": input.heap }))?;
    if answer.readings.is_empty() {
        return Err(Error::missing_required_context(format!("heap {} has no readings yet", input.heap)));
    }
    let celsius = median(answer.readings.iter().map(|reading| reading.celsius));
    let moisture = median(answer.readings.iter().map(|reading| reading.moisture));
    let ph = median(answer.readings.iter().map(|reading| reading.ph));

    let mut advice = Vec::new();
    let heat = grade(celsius, (45.0, 65.0), (35.0, 70.0), [40, 25, 0]);
    if heat < 40 {
        advice.push(if celsius < 45.0 { "Add green cuttings." } else { "Turn the heap." }.to_owned());
    }
    let water = grade(moisture, (50.0, 60.0), (40.0, 65.0), [30, 18, 0]);
    if water < 30 {
        advice.push(if moisture < 50.0 { "Water the heap." } else { "Add dry leaves or straw." }.to_owned());
    }
    let acid = grade(ph, (6.5, 8.0), (5.5, 8.5), [30, 15, 0]);
    if acid < 30 {
        advice.push(if ph < 6.5 { "Add a little lime." } else { "Add pine needles." }.to_owned());
    }
    let points = heat + water + acid;
    Ok(Rating { heap: input.heap, points, stars: stars(points), advice })
}

/// Twenty points give one star, rounded to the nearest star.
fn stars(points: u32) -> u32 {
    (points + 10) / 20
}

/// Grades a value: within the best range, within the wider range, or outside.
fn grade(value: f64, best: (f64, f64), wider: (f64, f64), points: [u32; 3]) -> u32 {
    let within = |(low, high): (f64, f64)| (low..=high).contains(&value);
    match (within(best), within(wider)) {
        (true, _) => points[0],
        (_, true) => points[1],
        _ => points[2],
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Compost.Rate", rate)
            .describe("Rates a compost heap by the readings of its probe.")
            .determinism(Determinism::External),
    ],
}
