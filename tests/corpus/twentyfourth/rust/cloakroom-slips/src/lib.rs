//! Numbers the slips of a theatre cloakroom.

use latchwork_guest::{Determinism, Error, clock, events, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most lots of a season. A lot has eight digits on the slip.
const LOTS: u32 = 99_999_999;
/// Most pieces on one hook.
const PIECES: u32 = 9;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deposit {
    /// Running number of the lot in this season.
    lot: u32,
    /// Name that is written on the slip.
    guest: String,
    /// Coats, hats and bags of the guest.
    pieces: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Slip {
    /// The seventeen digits of the bar code.
    code: String,
    guest: String,
    /// One line for each piece.
    lines: Vec<String>,
}

/// The bar code begins with the time of the deposit, to the millisecond, and ends with the lot.
fn number(lot: u32) -> u64 {
    let now = clock::now();
    let (hour, minute, second) = now.time();
    let time = (u64::from(hour) * 10_000 + u64::from(minute) * 100 + u64::from(second)) * 1000
        + u64::from(now.nanoseconds / 1_000_000);
    time * 100_000_000 + u64::from(lot)
}

fn issue(deposit: Deposit, _: &step::Context) -> Result<Slip, Error> {
    if deposit.lot == 0 || deposit.lot > LOTS {
        return Err(Error::invalid_input(format!("a lot is a number from 1 to {LOTS}")));
    }
    let guest = deposit.guest.trim();
    if guest.is_empty() {
        return Err(Error::invalid_input("the slip needs a name"));
    }
    if deposit.pieces.is_empty() || deposit.pieces.len() > PIECES as usize {
        return Err(Error::invalid_input(format!("a hook holds 1 to {PIECES} pieces")));
    }
    let number = number(deposit.lot);
    events::emit("slip-issued", &json!({ "slip": number, "lot": deposit.lot, "pieces": deposit.pieces.len() }))?;
    let lines = deposit.pieces.iter().enumerate().map(|(i, piece)| format!("{}. {}", i + 1, piece.trim())).collect();
    Ok(Slip { code: format!("{number:017}"), guest: guest.to_owned(), lines })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Slip.Issue", issue)
            .describe("Issues the slip of a lot in the cloakroom.")
            .determinism(Determinism::Stable),
    ],
}
