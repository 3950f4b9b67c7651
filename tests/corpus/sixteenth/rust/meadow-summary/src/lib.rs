//! `Meadow.Summarize`: sums up the counts of one meadow plot, and keeps the notes of the observer.

use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize, JsonSchema)]
struct Survey {
    /// Name of the plot.
    plot: String,
    /// Counted plants by species.
    counts: BTreeMap<String, u32>,
    /// Any other fields of the survey form.
    #[serde(flatten)]
    notes: BTreeMap<String, Value>,
}

#[derive(Serialize, JsonSchema)]
struct Summary {
    plot: String,
    /// Number of species with at least one plant.
    species: usize,
    /// Number of all plants.
    plants: u64,
    /// Species with the most plants.
    dominant: String,
    /// Share of the dominant species, from 0 to 1.
    cover: f64,
    /// The other fields of the survey form, unchanged.
    #[serde(flatten)]
    notes: BTreeMap<String, Value>,
}

fn summarize(survey: Survey, _: &step::Context) -> Result<Summary, Error> {
    if survey.plot.trim().is_empty() {
        return Err(Error::invalid_input("the survey names no plot"));
    }
    let found: Vec<(&String, u32)> =
        survey.counts.iter().map(|(name, count)| (name, *count)).filter(|(_, count)| *count > 0).collect();
    let plants: u64 = found.iter().map(|(_, count)| u64::from(*count)).sum();
    // Of two species with equal counts, the first name of the alphabet is the dominant one.
    let mut dominant: Option<(&String, u32)> = None;
    for (name, count) in &found {
        if dominant.is_none_or(|(_, most)| *count > most) {
            dominant = Some((name, *count));
        }
    }
    let Some((dominant, most)) = dominant else {
        return Err(Error::invalid_input(format!("no plant was counted in {}", survey.plot)));
    };
    Ok(Summary {
        species: found.len(),
        plants,
        dominant: dominant.clone(),
        cover: f64::from(most) / plants as f64,
        plot: survey.plot,
        notes: survey.notes,
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Meadow.Summarize", summarize)
            .describe("Sums up the plant counts of a meadow plot and passes on its notes.")
            .outcome("Summary.Meadow", "draft"),
    ],
}
