//! `Peat.Inventory`: computes the carbon stock of a bog from the layers of its peat cores.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const MAX_LAYERS: usize = 400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Survey {
    site: String,
    layers: Vec<Layer>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Layer {
    /// The layer belongs to the core of this name.
    core: String,
    /// The kind of the peat is a word such as `sphagnum` or `sedge`.
    peat: String,
    thickness_cm: f64,
}

/// This is the answer of `Peat.Density`.
#[derive(Deserialize)]
struct Density {
    kg_per_m3: f64,
    carbon_fraction: f64,
}

#[derive(Serialize, JsonSchema)]
struct Inventory {
    site: String,
    cores: Vec<Core>,
    /// The mean over the cores is in kilograms of carbon for each square metre.
    mean_kg_per_m2: f64,
}

#[derive(Serialize, JsonSchema)]
struct Core {
    core: String,
    kg_per_m2: f64,
}

fn inventory(survey: Survey, _: &step::Context) -> Result<Inventory, Error> {
    if survey.layers.is_empty() || survey.layers.len() > MAX_LAYERS {
        return Err(Error::invalid_input(format!("a survey has 1 to {MAX_LAYERS} layers")));
    }
    if let Some(bad) = survey.layers.iter().find(|layer| !(0.1..=500.0).contains(&layer.thickness_cm)) {
        return Err(Error::invalid_input(format!("core {}: a layer is between 0.1 and 500 cm thick", bad.core)));
    }
    let densities = densities(&survey.layers)?;

    let mut stocks: HashMap<&str, f64> = HashMap::new();
    for layer in &survey.layers {
        let density = &densities[layer.peat.as_str()];
        let carbon = layer.thickness_cm / 100.0 * density.kg_per_m3 * density.carbon_fraction;
        *stocks.entry(&layer.core).or_default() += carbon;
    }
    let mean_kg_per_m2 = stocks.values().sum::<f64>() / stocks.len() as f64;

    let mut cores: Vec<Core> =
        stocks.into_iter().map(|(core, kg_per_m2)| Core { core: core.to_owned(), kg_per_m2 }).collect();
    cores.sort_by(|a, b| a.core.cmp(&b.core));
    Ok(Inventory { site: survey.site, cores, mean_kg_per_m2 })
}

/// Asks for the density of each kind of peat once.
fn densities(layers: &[Layer]) -> Result<BTreeMap<&str, Density>, Error> {
    let kinds: BTreeSet<&str> = layers.iter().map(|layer| layer.peat.as_str()).collect();
    let calls = kinds.iter().map(|kind| tools::Call::new("Peat.Density", &json!({ "peat": kind })));
    let mut densities = BTreeMap::new();
    for (kind, answer) in kinds.iter().zip(tools::call_all::<Density>(calls)) {
        let density = answer.map_err(|error| error.context(format!("density of {kind}")))?;
        if !(1.0..=2000.0).contains(&density.kg_per_m3) || !(0.0..=1.0).contains(&density.carbon_fraction) {
            return Err(Error::schema_validation_failed(format!("the density of {kind} is out of range")));
        }
        densities.insert(*kind, density);
    }
    Ok(densities)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Peat.Inventory", inventory)
            .describe("Computes the carbon stock of a bog from its peat cores.")
            .determinism(Determinism::External),
    ],
}
