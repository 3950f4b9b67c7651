//! Issues gift vouchers at the desk of a theatre.

use std::collections::BTreeSet;

use latchwork_guest::{Determinism, Error, clock, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Vouchers are sold in steps of this amount.
const STEP_CENTS: u32 = 500;
/// Years for which a voucher is valid, after the year of its sale.
const YEARS_VALID: i64 = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    #[schemars(length(min = 1, max = 80))]
    buyer: String,
    /// Value of each voucher, in cents.
    #[schemars(length(min = 1, max = 4), inner(range(min = 500, max = 50_000)))]
    values: Vec<u32>,
    /// Text on the voucher.
    #[schemars(length(max = 140))]
    greeting: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Voucher {
    /// Number of 16 digits, printed as a bar code.
    number: u64,
    /// Control digit of the number.
    control: u32,
    value_cents: u32,
    valid_until: String,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Issued {
    buyer: String,
    vouchers: Vec<Voucher>,
    total_cents: u32,
}

/// Draws a number of exactly 16 digits. The first digit is never 0, because the cash desk drops leading zeros.
fn draw() -> u64 {
    let high = 10_000_000 + rng::below(90_000_000);
    u64::from(high) * 100_000_000 + u64::from(rng::below(100_000_000))
}

/// Returns the control digit of a number: the digits have the weights 3 and 1 in turn, from the right.
fn control(number: u64) -> u32 {
    let digits: Vec<u32> = number.to_string().chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = digits.iter().rev().enumerate().map(|(i, digit)| if i % 2 == 0 { digit * 3 } else { *digit }).sum();
    (10 - sum % 10) % 10
}

fn issue(order: Order, _: &step::Context) -> Result<Issued, Error> {
    if let Some(value) = order.values.iter().find(|value| **value % STEP_CENTS != 0) {
        return Err(Error::invalid_input(format!("{value} is no multiple of {STEP_CENTS} cents")));
    }
    let text = match order.greeting.as_deref().map(str::trim) {
        None | Some("") => "A gift from the house".to_owned(),
        Some(greeting) => greeting.to_owned(),
    };
    let valid_until = format!("{}-12-31", clock::now().date().0 + YEARS_VALID);
    let mut used = BTreeSet::new();
    let mut vouchers = Vec::new();
    for value in &order.values {
        let number = draw();
        if !used.insert(number) {
            return Err(Error::transient_db_lock("the same number was drawn twice, order again"));
        }
        vouchers.push(Voucher {
            number,
            control: control(number),
            value_cents: *value,
            valid_until: valid_until.clone(),
            text: text.clone(),
        });
    }
    Ok(Issued { buyer: order.buyer, total_cents: order.values.iter().sum(), vouchers })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Voucher.Issue", issue)
            .describe("Issues gift vouchers with random numbers.")
            .determinism(Determinism::Stable)
            .outcome("Voucher.Sheet", "final"),
    ],
}
