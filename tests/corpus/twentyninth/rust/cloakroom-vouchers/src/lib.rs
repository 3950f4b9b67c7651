//! Issues vouchers for the cloakroom of a theatre.
//!
//! The till prints the serial of a voucher as a bar code of 16 digits and imports it as a number.

use std::collections::BTreeSet;

use latchwork_guest::{Determinism, Error, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Serials have at most 16 digits.
const SERIALS: u64 = 10_000_000_000_000_000;
/// More coats than this hang in the group cloakroom.
const COATS_MAX: u32 = 4;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Party {
    /// Name on the booking.
    #[schemars(length(min = 1, max = 80))]
    name: String,
    /// Performance, such as `2026-01-09 evening`.
    #[schemars(length(min = 1, max = 40))]
    performance: String,
    #[schemars(range(min = 1, max = 200))]
    coats: u32,
}

#[derive(Serialize, JsonSchema)]
struct Vouchers {
    performance: String,
    cloakroom: &'static str,
    vouchers: Vec<Voucher>,
}

#[derive(Serialize, JsonSchema)]
struct Voucher {
    label: String,
    serial: u64,
    /// Digit by which the scanner recognizes a misread serial.
    check: u8,
}

/// Check digit by Luhn over the 16 digits of the serial.
fn check_digit(serial: u64) -> u8 {
    let digits = format!("{serial:016}");
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            match (place % 2, digit * 2) {
                (0, double) if double > 9 => double - 9,
                (0, double) => double,
                _ => digit,
            }
        })
        .sum();
    u8::try_from((10 - sum % 10) % 10).unwrap_or(0)
}

fn issue(party: Party, _: &step::Context) -> Result<Vouchers, Error> {
    let name = party.name.trim();
    if name.is_empty() {
        return Err(Error::invalid_input("the party has no name"));
    }
    let group = party.coats > COATS_MAX;
    // A group shares one rail, and one voucher.
    let count = if group { 1 } else { party.coats as usize };
    let mut serials = BTreeSet::new();
    for word in rng::bytes(8 * count).chunks_exact(8) {
        let word: [u8; 8] = word.try_into().unwrap_or_default();
        serials.insert(u64::from_le_bytes(word) % SERIALS);
    }
    if serials.len() < count {
        return Err(Error::dependency_unavailable("two vouchers drew one serial; issue them again"));
    }
    log::info!("{count} vouchers for {}", party.performance);
    let vouchers = serials
        .into_iter()
        .zip(1..)
        .map(|(serial, place)| Voucher {
            label: if group { format!("{name}, {} coats", party.coats) } else { format!("{name} {place}/{count}") },
            serial,
            check: check_digit(serial),
        })
        .collect();
    let cloakroom = if group { "group" } else { "foyer" };
    Ok(Vouchers { performance: party.performance, cloakroom, vouchers })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Cloakroom.Issue", issue)
            .describe("Issues vouchers for the coats of a party.")
            .determinism(Determinism::Stable),
    ],
}
