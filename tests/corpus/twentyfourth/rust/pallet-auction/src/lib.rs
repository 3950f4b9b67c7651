//! Asks hauliers for offers, and books the cheapest one.

use std::collections::{BTreeSet, HashMap};

use latchwork_guest::{Code, Determinism, Effect, Error, clock, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most hauliers of one auction.
const HAULIERS: usize = 12;
/// Most pallets of one lorry.
const PALLETS: u32 = 33;
/// Rounds in which a haulier is asked who could not be reached.
const ROUNDS: usize = 2;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Load {
    load: String,
    pallets: u32,
    hauliers: Vec<String>,
}

#[derive(Deserialize)]
struct Quote {
    cents: u32,
}

#[derive(Deserialize)]
struct Booked {
    booking: String,
}

#[derive(Clone, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    cents: u32,
    haulier: String,
}

#[derive(Serialize, JsonSchema)]
struct Award {
    booking: String,
    offers: Vec<Offer>,
    mean_cents: u64,
    without_offer: Vec<String>,
}

fn is_passing(code: Code) -> bool {
    matches!(
        code,
        Code::NetworkTimeout
            | Code::RateLimit
            | Code::TemporaryProviderError
            | Code::TransientDbLock
            | Code::DependencyUnavailable
    )
}

fn award(input: Load, _: &step::Context) -> Result<Award, Error> {
    if input.load.trim().is_empty() {
        return Err(Error::invalid_input("the load has no name"));
    }
    if input.pallets == 0 || input.pallets > PALLETS {
        return Err(Error::invalid_input(format!("a lorry takes 1 to {PALLETS} pallets")));
    }
    let distinct: BTreeSet<&str> = input.hauliers.iter().map(String::as_str).collect();
    if distinct.is_empty()
        || distinct.contains("")
        || distinct.len() != input.hauliers.len()
        || distinct.len() > HAULIERS
    {
        return Err(Error::invalid_input(format!("an auction has 1 to {HAULIERS} different hauliers")));
    }
    let mut open: Vec<&str> = input.hauliers.iter().map(String::as_str).collect();
    let mut cents: HashMap<&str, u32> = HashMap::new();
    let mut without_offer = BTreeSet::new();
    for _ in 0..ROUNDS {
        if open.is_empty() {
            break;
        }
        let calls = open.iter().map(|haulier| {
            let args = json!({ "haulier": haulier, "load": input.load, "pallets": input.pallets });
            tools::Call::new("Haulier.Quote", &args)
        });
        let answers: Vec<Result<Quote, Error>> = tools::call_all(calls);
        let mut again = Vec::new();
        for (haulier, answer) in open.iter().zip(answers) {
            match answer {
                Ok(quote) => {
                    cents.insert(haulier, quote.cents);
                }
                Err(error) if is_passing(error.code()) => again.push(*haulier),
                Err(error) => {
                    log::warn!("{haulier} makes no offer: {error}");
                    without_offer.insert((*haulier).to_owned());
                }
            }
        }
        open = again;
    }
    without_offer.extend(open.into_iter().map(str::to_owned));
    let mut offers: Vec<Offer> =
        cents.into_iter().map(|(haulier, cents)| Offer { cents, haulier: haulier.to_owned() }).collect();
    offers.sort();
    let Some(best) = offers.first().cloned() else {
        return Err(Error::dependency_unavailable("the auction has no offers"));
    };
    let mean_cents = offers.iter().map(|offer| u64::from(offer.cents)).sum::<u64>() / offers.len() as u64;

    // The same load may go out again on another day.
    let (year, month, day) = clock::now().date();
    let day = format!("{year:04}-{month:02}-{day:02}");
    let args = json!({
        "haulier": best.haulier, "load": input.load, "pallets": input.pallets, "cents": best.cents, "day": day,
    });
    let key = json!([best.haulier, input.load, input.pallets, best.cents, day]).to_string();
    let booked: Booked = tools::Call::new("Haulier.Book", &args)
        .action_key(key)
        .send()
        .map_err(|error: Error| error.context(format!("booking {}", best.haulier)))?;
    Ok(Award { booking: booked.booking, offers, mean_cents, without_offer: without_offer.into_iter().collect() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Load.Award", award)
            .describe("Books the cheapest haulier for a load.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
