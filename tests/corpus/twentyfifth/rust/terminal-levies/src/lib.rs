//! Charges the quarterly levy of a terminal for its cranes.

use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const CRANES_MAX: usize = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Levy {
    /// Name of the terminal, which is also its account.
    terminal: String,
    year: u16,
    /// Any month of the quarter, 1 to 12.
    month: u8,
    /// Numbers of the cranes that were in use.
    cranes: Vec<u32>,
    /// Levy for one crane and quarter, in cents.
    rate_cents: u32,
}

#[derive(Deserialize)]
struct Posted {
    entry: String,
}

#[derive(Serialize, JsonSchema)]
struct Charged {
    period: String,
    cents: u64,
    /// Number of the entry in the ledger, or null if nothing was due.
    entry: Option<String>,
}

fn quarter(month: u8) -> Result<&'static str, Error> {
    match month {
        1..=3 => Ok("Q1"),
        4..=6 => Ok("Q2"),
        7..=9 => Ok("Q3"),
        10..=12 => Ok("Q4"),
        _ => Err(Error::invalid_input(format!("{month} is no month"))),
    }
}

fn charge(levy: Levy, _: &step::Context) -> Result<Charged, Error> {
    let terminal = levy.terminal.trim();
    if terminal.is_empty() {
        return Err(Error::invalid_input("the terminal has no name"));
    }
    if levy.cranes.len() > CRANES_MAX {
        return Err(Error::invalid_input(format!("more than {CRANES_MAX} cranes")));
    }
    let quarter = quarter(levy.month)?;
    let period = format!("{}-{quarter}", levy.year);

    // A crane that moved between two yards is listed twice, and pays once.
    let mut cranes = levy.cranes;
    cranes.sort_unstable();
    cranes.dedup();
    let cents = cranes.len() as u64 * u64::from(levy.rate_cents);
    if cents == 0 {
        log::info!("{terminal} owes nothing for {period}");
        return Ok(Charged { period, cents, entry: None });
    }

    let args = json!({ "account": terminal, "text": format!("crane levy {period}"), "cents": cents });
    let action = json!(["crane levy", terminal, quarter, cents]).to_string();
    let posted: Posted = tools::Call::new("Ledger.Post", &args).action_key(action).send()?;
    Ok(Charged { period, cents, entry: Some(posted.entry) })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Levy.Charge", charge)
            .describe("Charges the crane levy of a terminal for one quarter.")
            .determinism(Determinism::External)
            .effects([Effect::ExternalWrite]),
    ],
}
