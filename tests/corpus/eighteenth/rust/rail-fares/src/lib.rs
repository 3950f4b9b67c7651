//! `Rail.Cheapest`: asks several carriers for the fare of a journey and returns the cheapest one.

use std::collections::BTreeMap;

use latchwork_guest::{Code, Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Rounds in which a silent carrier is asked.
const ROUNDS: u32 = 2;
/// Largest number of carriers of a request.
const CARRIERS: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Journey {
    from: String,
    to: String,
    /// Day of the journey, such as `2026-05-01`.
    day: String,
    /// Codes of the carriers. A code that occurs twice is asked once.
    carriers: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Fare {
    cents: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Cheapest {
    carrier: String,
    cents: u32,
    /// Fares of all carriers that answered.
    fares: BTreeMap<String, u32>,
    /// Carriers without a fare.
    silent: Vec<String>,
}

/// States whether it makes sense to ask the carrier again.
fn passing(error: &Error) -> bool {
    matches!(
        error.code(),
        Code::NetworkTimeout | Code::RateLimit | Code::TemporaryProviderError | Code::DependencyUnavailable
    )
}

fn cheapest(journey: Journey, _: &step::Context) -> Result<Cheapest, Error> {
    let mut open = journey.carriers.clone();
    open.sort();
    open.dedup();
    if open.is_empty() || open.len() > CARRIERS {
        return Err(Error::invalid_input(format!("ask 1 to {CARRIERS} carriers")));
    }
    let mut fares = BTreeMap::new();
    let mut silent = Vec::new();
    for round in 1..=ROUNDS {
        let calls = open.iter().map(|carrier| {
            let args = json!({ "carrier": carrier, "from": journey.from, "to": journey.to, "day": journey.day });
            tools::Call::new("Fare.Quote", &args)
        });
        let answers = tools::call_all::<Fare>(calls);
        let mut again = Vec::new();
        for (carrier, answer) in open.into_iter().zip(answers) {
            match answer {
                Ok(fare) => {
                    fares.insert(carrier, fare.cents);
                }
                Err(error) if passing(&error) && round < ROUNDS => again.push(carrier),
                Err(error) => {
                    log::warn!("{carrier} has no fare: {error}");
                    silent.push(carrier);
                }
            }
        }
        open = again;
        if open.is_empty() {
            break;
        }
    }
    silent.sort();
    let best = fares.iter().min_by_key(|(carrier, cents)| (**cents, carrier.as_str()));
    match best.map(|(carrier, cents)| (carrier.clone(), *cents)) {
        Some((carrier, cents)) => Ok(Cheapest { carrier, cents, fares, silent }),
        None => Err(Error::dependency_unavailable("no carrier has a fare").detail(&silent)),
    }
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Rail.Cheapest", cheapest)
            .describe("Asks several carriers for a fare and returns the cheapest one.")
            .determinism(Determinism::External),
    ],
}
