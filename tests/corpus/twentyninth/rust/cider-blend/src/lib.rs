//! Works out a blend of cider from the lots that go into the vat.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Vat {
    /// Volume of the vat in litres.
    #[schemars(range(min = 1.0, max = 1000000.0))]
    capacity: f64,
    #[schemars(length(min = 1, max = 400))]
    lots: Vec<Lot>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lot {
    #[schemars(length(min = 1, max = 60))]
    variety: String,
    /// Litres of juice.
    #[schemars(range(min = 0.0, max = 100000.0))]
    litres: f64,
    /// Sugar in grams per litre.
    #[schemars(range(min = 0.0, max = 400.0))]
    sugar: f64,
    /// Malic acid in grams per litre.
    #[schemars(range(min = 0.0, max = 40.0))]
    acid: f64,
}

#[derive(Serialize, JsonSchema)]
struct Blend {
    litres: f64,
    /// Sugar of the blend in grams per litre.
    sugar: f64,
    /// Malic acid of the blend in grams per litre.
    acid: f64,
    style: &'static str,
    varieties: Vec<Variety>,
}

#[derive(Serialize, JsonSchema)]
struct Variety {
    variety: String,
    litres: f64,
    /// Part of the blend, from 0 to 1.
    share: f64,
}

/// Contribution of one variety to the vat.
#[derive(Default)]
struct Pressing {
    litres: f64,
    sugar: f64,
    acid: f64,
}

fn style(sugar: f64, acid: f64) -> &'static str {
    match (sugar, acid) {
        (_, acid) if acid >= 4.5 => "sharp",
        (sugar, _) if sugar >= 120.0 => "sweet",
        _ => "bittersweet",
    }
}

fn blend(vat: Vat, _: &step::Context) -> Result<Blend, Error> {
    let mut pressings: HashMap<String, Pressing> = HashMap::new();
    for lot in &vat.lots {
        let pressing = pressings.entry(lot.variety.trim().to_owned()).or_default();
        pressing.litres += lot.litres;
        pressing.sugar += lot.litres * lot.sugar;
        pressing.acid += lot.litres * lot.acid;
    }
    let mut whole = Pressing::default();
    for pressing in pressings.values() {
        whole.litres += pressing.litres;
        whole.sugar += pressing.sugar;
        whole.acid += pressing.acid;
    }
    if whole.litres <= 0.0 {
        return Err(Error::invalid_input("the lots have no juice"));
    }
    if whole.litres > vat.capacity {
        return Err(Error::invalid_input("the lots do not fit into the vat"));
    }
    let mut varieties: Vec<Variety> = pressings
        .into_iter()
        .map(|(variety, pressing)| Variety { variety, litres: pressing.litres, share: pressing.litres / whole.litres })
        .collect();
    varieties.sort_by(|a, b| a.variety.cmp(&b.variety));
    let (sugar, acid) = (whole.sugar / whole.litres, whole.acid / whole.litres);
    Ok(Blend { litres: whole.litres, sugar, acid, style: style(sugar, acid), varieties })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Cider.Blend", blend).describe("Works out sugar, acid and shares of a blend of cider."),
    ],
}
