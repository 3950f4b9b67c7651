//! `Carton.Number`: gives serial shipping container codes (SSCC) to a run of cartons.
//!
//! A code has 18 digits: the extension digit, the company prefix, the serial reference and a check digit.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Digits of a code before the check digit.
const BODY_DIGITS: usize = 17;
/// Largest run of cartons in one order.
const CARTONS_MAX: u32 = 2_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Run {
    /// GS1 company prefix of the shipper: 7 to 10 digits.
    prefix: String,
    /// Extension digit, which the shipper chooses.
    #[serde(default)]
    extension: u8,
    /// Serial reference of the first carton.
    first: u64,
    /// Number of cartons.
    cartons: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Numbered {
    /// Cartons in the order of the run.
    cartons: Vec<Carton>,
    /// Serial reference for the next run.
    next: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Carton {
    /// Code of the carton, as the key of the warehouse's table.
    sscc: u64,
    /// Line under the barcode of the label.
    label: String,
}

/// Returns the check digit of GS1: weights 3 and 1 in turn, from the right.
fn check_digit(body: u64) -> u64 {
    let mut rest = body;
    let mut sum = 0;
    for place in 0..BODY_DIGITS {
        let weight = if place % 2 == 0 { 3 } else { 1 };
        sum += weight * (rest % 10);
        rest /= 10;
    }
    (10 - sum % 10) % 10
}

fn number(run: Run, _: &step::Context) -> Result<Numbered, Error> {
    let digits = run.prefix.len();
    if !(7..=10).contains(&digits) || !run.prefix.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::invalid_input(format!("{:?} is no company prefix of 7 to 10 digits", run.prefix)));
    }
    if run.extension > 9 {
        return Err(Error::invalid_input("the extension is a single digit"));
    }
    if run.cartons == 0 || run.cartons > CARTONS_MAX {
        return Err(Error::invalid_input(format!("a run has 1 to {CARTONS_MAX} cartons")));
    }
    let places = u32::try_from(BODY_DIGITS - 1 - digits).unwrap_or(0);
    let serials = 10_u64.pow(places);
    let next = run.first.saturating_add(u64::from(run.cartons));
    if next > serials {
        return Err(Error::invalid_input(format!("the prefix has {serials} serial references, the run needs {next}")));
    }
    let prefix: u64 = run.prefix.parse().map_err(|_| Error::invalid_input("the company prefix is no number"))?;
    let base = (u64::from(run.extension) * 10_u64.pow(digits as u32) + prefix) * serials;
    let cartons = (run.first..next).map(|serial| {
        let body = base + serial;
        let sscc = body * 10 + check_digit(body);
        Carton { sscc, label: format!("(00) {sscc:018}") }
    });
    Ok(Numbered { cartons: cartons.collect(), next })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Carton.Number", number)
            .describe("Gives serial shipping container codes to a run of cartons."),
    ],
}
