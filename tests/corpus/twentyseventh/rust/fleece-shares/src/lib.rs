//! Divides the price of a common wool clip among the owners of the fleeces, by weight.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Clip {
    /// Price that the mill paid for the whole clip.
    price_cents: u64,
    fleeces: Vec<Fleece>,
}

#[derive(Deserialize, JsonSchema)]
struct Fleece {
    owner: String,
    kg: f64,
}

#[derive(Serialize, JsonSchema)]
struct Shares {
    owners: Vec<Share>,
    /// Weight of the whole clip, for the yearly report.
    clip_kg: f64,
}

#[derive(Serialize, JsonSchema)]
struct Share {
    owner: String,
    kg: f64,
    share: f64,
    cents: u64,
}

fn divide(clip: Clip, _: &step::Context) -> Result<Shares, Error> {
    let mut weights: HashMap<String, f64> = HashMap::new();
    for fleece in &clip.fleeces {
        let owner = fleece.owner.trim();
        if owner.is_empty() || !(0.1..=30.0).contains(&fleece.kg) {
            return Err(Error::invalid_input(format!("a fleece of {owner:?} with {} kg", fleece.kg)));
        }
        *weights.entry(owner.to_owned()).or_default() += fleece.kg;
    }
    if weights.is_empty() {
        return Err(Error::invalid_input("the clip has no fleeces"));
    }
    if clip.price_cents > 1_000_000_000 {
        return Err(Error::invalid_input("no clip is worth ten million"));
    }
    let total: f64 = weights.values().sum();

    // A map has no order that means anything. The list goes by name.
    let mut owners: Vec<Share> = weights
        .into_iter()
        .map(|(owner, kg)| {
            let share = kg / total;
            Share { owner, kg, share, cents: (share * clip.price_cents as f64).floor() as u64 }
        })
        .collect();
    owners.sort_by(|a, b| a.owner.cmp(&b.owner));

    // Cents that rounding left over go to the heaviest lots, and to the first name among equal ones.
    let paid: u64 = owners.iter().map(|share| share.cents).sum();
    let mut by_weight: Vec<usize> = (0..owners.len()).collect();
    by_weight.sort_by(|a, b| owners[*b].kg.total_cmp(&owners[*a].kg).then(a.cmp(b)));
    let left = clip.price_cents.saturating_sub(paid) as usize;
    for at in by_weight.into_iter().cycle().take(left.min(owners.len())) {
        owners[at].cents += 1;
    }
    Ok(Shares { owners, clip_kg: total })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Fleece.Divide", divide).describe("Divides the price of a wool clip by weight.")],
}
