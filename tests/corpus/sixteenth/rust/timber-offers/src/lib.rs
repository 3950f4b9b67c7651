//! `Timber.Collect`: asks sawmills for their offers, and asks again if a sawmill is not available.

use std::collections::BTreeSet;

use latchwork_guest::{Code, Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Number of times that a sawmill is asked.
const ROUNDS: usize = 3;

/// Maximum number of sawmills in one request.
const SAWMILLS_MAX: usize = 40;

/// Maximum length of the name of a sawmill or a timber, in bytes.
const NAME_MAX: usize = 120;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Request {
    sawmills: Vec<String>,
    /// Kind of timber, such as `larch beam 12x24`.
    timber: String,
    /// Wanted length in metres.
    metres: u32,
}

#[derive(Deserialize)]
struct Price {
    cents: u64,
}

#[derive(Serialize, JsonSchema)]
struct Offers {
    /// Offers, the cheapest first.
    offers: Vec<Offer>,
    /// Sawmills without an offer, in the order in which they were given up.
    missing: Vec<Missing>,
}

#[derive(Serialize, JsonSchema)]
struct Offer {
    sawmill: String,
    cents: u64,
}

#[derive(Serialize, JsonSchema)]
struct Missing {
    sawmill: String,
    reason: String,
}

fn collect(request: Request, _: &step::Context) -> Result<Offers, Error> {
    let different: BTreeSet<&String> = request.sawmills.iter().collect();
    if different.is_empty() || different.len() > SAWMILLS_MAX || different.len() < request.sawmills.len() {
        return Err(Error::invalid_input(format!("name 1 to {SAWMILLS_MAX} different sawmills")));
    }
    let long = request.sawmills.iter().chain([&request.timber]).any(|text| text.len() > NAME_MAX);
    if long || request.metres == 0 {
        return Err(Error::invalid_input(format!("at most {NAME_MAX} bytes in a name, and at least 1 metre")));
    }
    let mut open = request.sawmills;
    let (mut offers, mut missing) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let calls = open.iter().map(|sawmill| {
            let args = json!({ "sawmill": sawmill, "timber": request.timber, "metres": request.metres });
            tools::Call::new("Sawmill.Quote", &args)
        });
        let answers = tools::call_all::<Price>(calls);
        let mut again = Vec::new();
        for (sawmill, answer) in open.into_iter().zip(answers) {
            match answer {
                Ok(price) => offers.push(Offer { sawmill, cents: price.cents }),
                Err(error) if round < ROUNDS && may_pass(error.code()) => again.push(sawmill),
                Err(error) => missing.push(Missing { sawmill, reason: error.message().chars().take(200).collect() }),
            }
        }
        open = again;
        if open.is_empty() {
            break;
        }
        log::info!("{} sawmills are asked again after round {round}", open.len());
    }
    if offers.is_empty() {
        return Err(Error::dependency_unavailable("no sawmill made an offer"));
    }
    offers.sort_by(|one, other| (one.cents, &one.sawmill).cmp(&(other.cents, &other.sawmill)));
    Ok(Offers { offers, missing })
}

/// Returns true if a later call may succeed.
fn may_pass(code: Code) -> bool {
    matches!(
        code,
        Code::NetworkTimeout
            | Code::RateLimit
            | Code::TemporaryProviderError
            | Code::TransientDbLock
            | Code::DependencyUnavailable
    )
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Timber.Collect", collect)
            .describe("Collects the offers of sawmills for a length of timber.")
            .determinism(Determinism::External)
            .outcome("Offers.Timber", "draft"),
    ],
}
