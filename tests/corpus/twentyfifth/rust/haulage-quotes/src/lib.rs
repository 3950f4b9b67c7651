//! Compares the quotes of several carriers for one load.

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const CARRIERS_MAX: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Load {
    from: String,
    to: String,
    pallets: u16,
    /// Carriers to ask, by preference.
    carriers: Vec<String>,
}

#[derive(Deserialize)]
struct Quote {
    cents: u32,
    days: u16,
}

#[derive(Serialize, JsonSchema)]
struct Offer {
    carrier: String,
    cents: u32,
    days: u16,
}

#[derive(Serialize, JsonSchema)]
struct Comparison {
    best: Offer,
    /// Difference between the best offer and the most expensive one.
    saved_cents: u32,
    /// Carriers without an offer, by preference.
    silent: Vec<String>,
}

fn compare(load: Load, _: &step::Context) -> Result<Comparison, Error> {
    if load.pallets == 0 {
        return Err(Error::invalid_input("the load has no pallets"));
    }
    if load.carriers.is_empty() || load.carriers.len() > CARRIERS_MAX {
        return Err(Error::invalid_input(format!("ask 1 to {CARRIERS_MAX} carriers")));
    }
    let calls = load.carriers.iter().map(|carrier| {
        let args = json!({ "carrier": carrier, "from": load.from, "to": load.to, "pallets": load.pallets });
        tools::Call::new("Carrier.Quote", &args)
    });
    let answers = tools::call_all::<Quote>(calls.collect::<Vec<_>>());

    let mut offers = Vec::new();
    let mut silent = Vec::new();
    for (carrier, answer) in load.carriers.into_iter().zip(answers) {
        match answer {
            Ok(Quote { cents, days }) => offers.push(Offer { carrier, cents, days }),
            Err(error) => {
                log::warn!("{carrier} gives no quote: {error}");
                silent.push(carrier);
            }
        }
    }
    // The sort is stable: of two equal offers, the preferred carrier comes first.
    offers.sort_by_key(|offer| (offer.cents, offer.days));
    let dearest = offers[offers.len() - 1].cents;
    let best = offers.swap_remove(0);
    Ok(Comparison { saved_cents: dearest - best.cents, best, silent })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Haulage.Compare", compare)
            .describe("Asks carriers for quotes and returns the best offer.")
            .determinism(Determinism::External),
    ],
}
