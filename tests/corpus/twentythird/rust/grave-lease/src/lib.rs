//! Sends reminders for leases of graves that end in a year.

use std::collections::HashMap;

use latchwork_guest::{Determinism, Effect, Error, clock, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Round {
    #[schemars(length(min = 1, max = 60))]
    cemetery: String,
    /// Year in which the leases end.
    #[schemars(range(min = 2000, max = 2200))]
    year: u32,
    #[schemars(length(max = 200))]
    leases: Vec<Lease>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lease {
    /// Field, row and place, such as `C-12-4`.
    #[schemars(length(min = 1, max = 20))]
    grave: String,
    #[schemars(length(min = 1, max = 100))]
    holder: String,
    /// Fee for the extension. Without it, the letter names no fee.
    #[schemars(range(max = 10_000_000))]
    fee_cents: Option<u32>,
}

#[derive(Deserialize)]
struct Letter {
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct Sent {
    grave: String,
    letter: String,
}

#[derive(Serialize, JsonSchema)]
struct Unsent {
    grave: String,
    /// Code of the error.
    reason: String,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    sent: Vec<Sent>,
    unsent: Vec<Unsent>,
    /// Holders of several graves, with the number of their graves, in the order of their names.
    several: Vec<(String, u32)>,
}

fn text(round: &Round, lease: &Lease) -> String {
    let fee = match lease.fee_cents {
        Some(cents) => format!(" The extension costs {}.{:02} EUR.", cents / 100, cents % 100),
        None => String::new(),
    };
    format!("The lease of grave {} on {} ends in {}.{fee}", lease.grave, round.cemetery, round.year)
}

fn remind(round: Round, context: &step::Context) -> Result<Report, Error> {
    let (mut places, mut holders) = (HashMap::new(), HashMap::new());
    for (index, lease) in round.leases.iter().enumerate() {
        if let Some(earlier) = places.insert(lease.grave.as_str(), index) {
            return Err(Error::invalid_input(format!("leases {earlier} and {index} name the grave {}", lease.grave)));
        }
        *holders.entry(lease.holder.as_str()).or_insert(0) += 1;
    }
    // The day is only in the log. A letter with the day would differ in a second job of the same year.
    log::info!("{} letters on {} for {}", round.leases.len(), clock::now(), context.actor());
    let calls = round.leases.iter().map(|lease| {
        let args = json!({ "to": lease.holder, "subject": "Your lease", "text": text(&round, lease) });
        let key = json!(["grave-lease", round.cemetery, lease.grave, round.year]).to_string();
        tools::Call::new("Letter.Send", &args).action_key(key)
    });
    let answers = tools::call_all::<Letter>(calls);
    let (mut sent, mut unsent) = (Vec::new(), Vec::new());
    for (lease, answer) in round.leases.iter().zip(answers) {
        let grave = lease.grave.clone();
        match answer {
            Ok(letter) => sent.push(Sent { grave, letter: letter.id }),
            Err(error) => unsent.push(Unsent { grave, reason: format!("{:?}", error.code()) }),
        }
    }
    let mut several: Vec<(String, u32)> = holders
        .into_iter()
        .filter(|(_, graves)| *graves > 1)
        .map(|(holder, graves)| (holder.to_owned(), graves))
        .collect();
    several.sort();
    Ok(Report { sent, unsent, several })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Lease.Remind", remind)
            .describe("Sends a reminder for each lease of a grave that ends in a year.")
            .effects([Effect::ExternalSend])
            .determinism(Determinism::External),
    ],
}
