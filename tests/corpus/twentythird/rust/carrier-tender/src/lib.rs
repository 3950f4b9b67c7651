//! Asks carriers for the price of a transport and ranks their offers.

use std::collections::{BTreeSet, VecDeque};

use latchwork_guest::{Code, Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tender {
    /// Places of loading and unloading, such as `DE-20457`.
    #[schemars(regex(pattern = r"^[A-Z]{2}-[0-9]{4,6}$"))]
    from: String,
    #[schemars(regex(pattern = r"^[A-Z]{2}-[0-9]{4,6}$"))]
    to: String,
    #[schemars(range(min = 1, max = 33))]
    pallets: u32,
    /// Names of the carriers, in the order in which they are asked.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 60)))]
    carriers: Vec<String>,
}

#[derive(Deserialize)]
struct Quote {
    price_cents: u32,
    days: u32,
}

#[derive(Serialize, JsonSchema)]
struct Offer {
    carrier: String,
    price_cents: u32,
    days: u32,
}

#[derive(Serialize, JsonSchema)]
struct Ranking {
    /// Offers, the lowest price first.
    offers: Vec<Offer>,
    /// Carriers that do not serve the lane.
    declined: Vec<String>,
}

/// True if the carrier could answer a later question.
fn is_busy(code: Code) -> bool {
    matches!(code, Code::RateLimit | Code::NetworkTimeout | Code::TemporaryProviderError | Code::DependencyUnavailable)
}

fn tender(tender: Tender, _: &step::Context) -> Result<Ranking, Error> {
    if tender.from == tender.to {
        return Err(Error::invalid_input("the two places of the transport are the same"));
    }
    let distinct: BTreeSet<&String> = tender.carriers.iter().collect();
    if distinct.len() < tender.carriers.len() {
        return Err(Error::invalid_input("a carrier is named twice"));
    }
    let mut ranking = Ranking { offers: Vec::new(), declined: Vec::new() };
    let mut waiting: VecDeque<&String> = tender.carriers.iter().collect();
    while let Some(carrier) = waiting.pop_front() {
        let args = json!({
            "carrier": carrier, "from": tender.from, "to": tender.to, "pallets": tender.pallets,
        });
        match tools::call::<_, Quote>("Carrier.Quote", &args) {
            Ok(Quote { price_cents, days }) => {
                ranking.offers.push(Offer { carrier: carrier.clone(), price_cents, days });
            }
            Err(error) if matches!(error.code(), Code::PolicyDenied | Code::InvalidInput) => {
                ranking.declined.push(carrier.clone());
            }
            // A busy carrier gets its turn again after the others.
            Err(error) if is_busy(error.code()) => {
                log::info!("{carrier} is busy: {error}");
                waiting.push_back(carrier);
            }
            Err(error) => return Err(error),
        }
    }
    ranking.offers.sort_by(|a, b| (a.price_cents, a.days, &a.carrier).cmp(&(b.price_cents, b.days, &b.carrier)));
    Ok(ranking)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Tender.Rank", tender)
            .describe("Ranks the offers of carriers for a transport by price.")
            .determinism(Determinism::External),
    ],
}
