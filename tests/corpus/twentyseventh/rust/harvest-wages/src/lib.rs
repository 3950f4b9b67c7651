//! Pays the pickers of a harvest week. A wage that cannot be paid is listed for the office, and the others are paid.

use std::collections::{BTreeMap, HashMap};

use latchwork_guest::{Code, Determinism, Effect, Error, clock, events, log, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A payment whose service is down is tried once more after all the others. The host has retried both times.
const ROUNDS: usize = 2;

#[derive(Deserialize, JsonSchema)]
struct Week {
    estate: String,
    /// ISO week with its year: `2026-W36`.
    week: String,
    cents_per_crate: u32,
    crates: Vec<Crates>,
}

#[derive(Deserialize, JsonSchema)]
struct Crates {
    picker: String,
    crates: u32,
}

#[derive(Deserialize)]
struct Account {
    iban: String,
}

#[derive(Deserialize)]
struct Payment {
    payment: String,
}

#[derive(Serialize, JsonSchema)]
struct Paid {
    date: String,
    paid: BTreeMap<String, Wage>,
    unpaid: BTreeMap<String, String>,
    /// Pickers whose crates are weighed again this week, drawn by lot.
    inspected: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Wage {
    cents: u64,
    payment: String,
}

fn is_week(text: &str) -> bool {
    text.len() == 8
        && text.bytes().enumerate().all(|(i, b)| match i {
            4 => b == b'-',
            5 => b == b'W',
            _ => b.is_ascii_digit(),
        })
}

fn is_down(code: Code) -> bool {
    matches!(code, Code::DependencyUnavailable | Code::NetworkTimeout | Code::TemporaryProviderError)
}

fn pay(week: Week, context: &step::Context) -> Result<Paid, Error> {
    if week.estate.is_empty() || !is_week(&week.week) || week.crates.is_empty() || week.crates.len() > 400 {
        return Err(Error::invalid_input("an estate, a week such as 2026-W36, and 1 to 400 pickers are needed"));
    }
    let mut wages: HashMap<&str, u64> = HashMap::new();
    for entry in &week.crates {
        let cents = u64::from(entry.crates) * u64::from(week.cents_per_crate);
        if wages.insert(&entry.picker, cents).is_some() {
            return Err(Error::invalid_input(format!("{} is in the list twice", entry.picker)));
        }
    }
    let mut pickers: Vec<&str> = wages.iter().filter(|(_, cents)| **cents > 0).map(|(picker, _)| *picker).collect();
    pickers.sort_unstable();

    let asked = pickers.iter().map(|picker| tools::Call::new("Picker.Account", &json!({ "picker": picker })));
    let accounts = tools::call_all::<Account>(asked);
    let (mut paid, mut unpaid, mut open) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for (picker, account) in pickers.iter().copied().zip(accounts) {
        match account {
            Ok(account) => open.push((picker, account.iban)),
            Err(error) => {
                unpaid.insert(picker.to_owned(), format!("no account: {error}"));
            }
        }
    }
    for round in 1..=ROUNDS {
        let mut later = Vec::new();
        for (picker, iban) in open {
            let cents = wages.get(picker).copied().unwrap_or_default();
            let key = json!(["harvest-wage", week.estate, week.week, picker]).to_string();
            let args = json!({ "iban": iban, "cents": cents, "text": format!("{} {}", week.estate, week.week) });
            match tools::Call::new("Wage.Pay", &args).action_key(key).send::<Payment>() {
                Ok(payment) => {
                    paid.insert(picker.to_owned(), Wage { cents, payment: payment.payment });
                }
                Err(error) if is_down(error.code()) && round < ROUNDS => later.push((picker, iban)),
                Err(error) => {
                    log::warn!("{}: {picker} is not paid: {error}", context.job_id());
                    unpaid.insert(picker.to_owned(), error.message().to_owned());
                }
            }
        }
        open = later;
    }
    let mut inspected: Vec<String> = pickers.iter().map(|picker| (*picker).to_owned()).collect();
    while inspected.len() > 2 {
        let out = rng::below(u32::try_from(inspected.len()).unwrap_or(u32::MAX));
        inspected.swap_remove(out as usize);
    }
    inspected.sort_unstable();
    events::emit("wages-paid", &json!({ "week": week.week, "paid": paid.len(), "unpaid": unpaid.len() }))?;
    let date = clock::now().to_string().chars().take(10).collect();
    Ok(Paid { date, paid, unpaid, inspected })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Harvest.Pay", pay)
            .describe("Pays the pickers of a harvest week.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
