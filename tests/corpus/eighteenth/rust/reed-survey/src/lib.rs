//! `Reed.Survey`: computes the density of a reed bed from counted plots.

use std::collections::BTreeMap;

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Survey {
    /// Plots in the order in which they were counted.
    plots: Vec<Plot>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plot {
    /// Number on the stake of the plot.
    stake: u32,
    /// Name of the bed.
    bed: String,
    /// Number of stems in the frame.
    stems: u32,
    /// Area of the frame in square centimetres. 0 means that it was not written down.
    area_cm2: u32,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Bed {
    plots: u32,
    stems: u64,
    area_cm2: u64,
    /// Stems for each square metre, rounded down.
    density: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Report {
    /// Beds by name.
    beds: BTreeMap<String, Bed>,
    /// Stakes of the plots that were left out.
    left_out: Vec<u32>,
}

fn survey(survey: Survey, context: &step::Context) -> Result<Report, Error> {
    if survey.plots.is_empty() {
        return Err(Error::invalid_input("the survey has no plots"));
    }
    let mut beds: BTreeMap<String, Bed> = BTreeMap::new();
    let mut left_out = Vec::new();
    for plot in survey.plots {
        if plot.area_cm2 == 0 {
            log::warn!("survey {}: the plot at stake {} has no area", context.correlation_id(), plot.stake);
            left_out.push(plot.stake);
            continue;
        }
        let bed = beds.entry(plot.bed).or_default();
        bed.plots += 1;
        bed.stems += u64::from(plot.stems);
        bed.area_cm2 += u64::from(plot.area_cm2);
    }
    if beds.is_empty() {
        return Err(Error::invalid_input("no plot has an area").detail(&left_out));
    }
    for bed in beds.values_mut() {
        bed.density = bed.stems * 10_000 / bed.area_cm2;
    }
    log::info!("{} beds, {} plots left out", beds.len(), left_out.len());
    left_out.sort_unstable();
    Ok(Report { beds, left_out })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Reed.Survey", survey)
            .describe("Computes the density of reed beds from counted plots.")
            .outcome("Report.Reed", "final"),
    ],
}
