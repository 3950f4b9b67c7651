//! Averages the ore grade of a bench from the assays of its drill cores.

use std::collections::{BTreeMap, HashSet};

use latchwork_guest::tools::{self, Call};
use latchwork_guest::{Determinism, Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bench {
    bench: String,
    cores: Vec<Core>,
}

#[derive(Deserialize, JsonSchema)]
struct Core {
    hole: String,
    sample: String,
}

#[derive(Deserialize)]
struct Assay {
    sample: String,
    grams_per_tonne: f64,
}

#[derive(Serialize, JsonSchema)]
struct Grade {
    bench: String,
    samples: usize,
    grams_per_tonne: f64,
    by_hole: BTreeMap<String, f64>,
}

fn grade(bench: Bench, _: &step::Context) -> Result<Grade, Error> {
    if bench.cores.is_empty() || bench.cores.len() > 200 {
        return Err(Error::invalid_input("a bench has 1 to 200 cores"));
    }
    // Halves of one core share a sample, and an assay is billed for each request.
    let samples: HashSet<&str> = bench.cores.iter().map(|core| core.sample.as_str()).collect();
    let calls = samples.iter().map(|sample| Call::new("Assay.Read", &json!({ "sample": sample })));
    let mut assays = BTreeMap::new();
    for answer in tools::call_all::<Assay>(calls) {
        let assay = answer?;
        assays.insert(assay.sample, assay.grams_per_tonne);
    }
    let mut by_hole = BTreeMap::new();
    for core in &bench.cores {
        let Some(grams) = assays.get(&core.sample) else {
            return Err(Error::missing_required_context(format!("no assay for {}", core.sample)));
        };
        by_hole.insert(core.hole.clone(), *grams);
    }
    let mean = assays.values().map(|grams| grams / assays.len() as f64).sum();
    log::info!("{} samples of bench {}", assays.len(), bench.bench);
    Ok(Grade { bench: bench.bench, samples: assays.len(), grams_per_tonne: mean, by_hole })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Quarry.Grade", grade)
            .describe("Averages the ore grade of a bench.")
            .determinism(Determinism::External),
    ],
}
