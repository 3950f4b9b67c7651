//! `Boiler.Plan`: books the yearly service of the boilers that are due in the month of a round.

use std::collections::BTreeSet;

use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Days within which the engineer has to come.
const WITHIN_DAYS: u32 = 30;
/// Most boilers of one association.
const BOILERS_MAX: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Round {
    /// Day of the round: `2026-03-02`.
    date: String,
    /// All boilers of the housing association.
    boilers: Vec<Boiler>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Boiler {
    /// Number on the boiler's plate.
    id: String,
    address: String,
    /// Month of the yearly service, from 1 to 12.
    service_month: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Planned {
    booked: Vec<Booked>,
    /// Boilers without a visit, with the reason.
    failed: Vec<Missed>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Booked {
    boiler: String,
    visit: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Missed {
    boiler: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Visit {
    visit: String,
}

/// Returns the month of a date.
fn month_of(date: &str) -> Option<u32> {
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if parts.next().is_some() || !digits(year, 4) || !digits(month, 2) || !digits(day, 2) {
        return None;
    }
    month.parse().ok().filter(|month| (1..=12).contains(month))
}

fn plan(round: Round, _: &step::Context) -> Result<Planned, Error> {
    let month = month_of(&round.date).ok_or_else(|| Error::invalid_input(format!("{:?} is no date", round.date)))?;
    if round.boilers.len() > BOILERS_MAX {
        return Err(Error::invalid_input(format!("a round has at most {BOILERS_MAX} boilers")));
    }
    let mut ids = BTreeSet::new();
    for boiler in &round.boilers {
        if boiler.id.trim().is_empty() {
            return Err(Error::invalid_input("a boiler has no id"));
        }
        if !ids.insert(boiler.id.as_str()) {
            return Err(Error::invalid_input(format!("boiler {} is listed twice", boiler.id)));
        }
        if !(1..=12).contains(&boiler.service_month) {
            let (id, month) = (&boiler.id, boiler.service_month);
            return Err(Error::invalid_input(format!("boiler {id} has the month {month}")));
        }
    }
    let due: Vec<&Boiler> = round.boilers.iter().filter(|boiler| boiler.service_month == month).collect();
    log::info!("{} of {} boilers are due", due.len(), round.boilers.len());
    // One visit for each boiler, however often the round of the month is run.
    let calls = due.iter().map(|boiler| {
        let args = json!({ "boiler": boiler.id, "address": boiler.address, "within_days": WITHIN_DAYS });
        tools::Call::new("Visit.Book", &args).action_key(json!(["boiler-service", boiler.id, month]).to_string())
    });
    let answers: Vec<Result<Visit, Error>> = tools::call_all(calls);
    let mut planned = Planned { booked: Vec::new(), failed: Vec::new() };
    for (boiler, answer) in due.iter().zip(answers) {
        let boiler = boiler.id.clone();
        match answer {
            Ok(visit) => planned.booked.push(Booked { boiler, visit: visit.visit }),
            Err(error) => planned.failed.push(Missed { boiler, reason: error.message().to_owned() }),
        }
    }
    Ok(planned)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Boiler.Plan", plan)
            .describe("Books the yearly service of the boilers that are due in the month of a round.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
