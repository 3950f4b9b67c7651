//! `Amber.Declare`: prepares the customs declaration of a lot of amber and asks for its duty.

use std::collections::BTreeMap;

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MAX_ATTRIBUTES: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lot {
    lot: String,
    grams: f64,
    pieces: u32,
    /// These are free properties of the lot, such as `colour` and `origin`. Their names have lower case letters and `_`.
    #[serde(default)]
    attributes: BTreeMap<String, String>,
}

/// These are the arguments of `Duty.Quote`. The tariff expects the properties beside the fields that every lot has.
#[derive(Serialize)]
struct Goods<'l> {
    lot: &'l str,
    grams: f64,
    pieces: u32,
    #[serde(flatten)]
    attributes: &'l BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Quote {
    code: String,
    duty_cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Declaration {
    lot: String,
    tariff_code: String,
    duty_cents: u32,
    /// The lines of the form are in the order in which they are printed.
    lines: Vec<String>,
}

fn declare(input: Lot, _: &step::Context) -> Result<Declaration, Error> {
    check(&input)?;
    let goods = Goods { lot: &input.lot, grams: input.grams, pieces: input.pieces, attributes: &input.attributes };
    let quote: Quote =
        tools::call("Duty.Quote", &goods).map_err(|error| error.context(format!("duty of lot {}", input.lot)))?;

    let mut lines = vec![
        format!("Lot {}: raw or worked amber, {} pieces", input.lot, input.pieces),
        format!("Net weight: {:.1} g", input.grams),
    ];
    lines.extend(input.attributes.iter().map(|(name, value)| format!("{}: {value}", name.replace('_', " "))));
    lines.push(match quote.duty_cents {
        0 => format!("Tariff {}: free of duty", quote.code),
        cents => format!("Tariff {}: duty {}.{:02} EUR", quote.code, cents / 100, cents % 100),
    });
    Ok(Declaration { lot: input.lot, tariff_code: quote.code, duty_cents: quote.duty_cents, lines })
}

fn check(input: &Lot) -> Result<(), Error> {
    if input.lot.is_empty() || input.lot.len() > 40 {
        return Err(Error::invalid_input("lot: 1 to 40 bytes"));
    }
    if !(0.1..=50_000.0).contains(&input.grams) {
        return Err(Error::invalid_input("grams: 0.1 to 50000"));
    }
    if input.pieces == 0 {
        return Err(Error::invalid_input("pieces: at least 1"));
    }
    if input.attributes.len() > MAX_ATTRIBUTES {
        return Err(Error::invalid_input(format!("attributes: at most {MAX_ATTRIBUTES}")));
    }
    for name in input.attributes.keys() {
        let valid = (1..=30).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if !valid {
            return Err(Error::invalid_input(format!("attributes: {name:?} is no name of a property")));
        }
    }
    Ok(())
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Amber.Declare", declare)
            .describe("Prepares the customs declaration of a lot of amber.")
            .determinism(Determinism::External),
    ],
}
