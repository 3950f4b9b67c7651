//! `Duty.Estimate`: estimates the customs duty of a shipment in euros.
//!
//! The invoice may state the customs rate of its currency. Otherwise the rate of the central bank is used.

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Largest value of a line, in cents of its currency.
const CENTS_MAX: u64 = 1_000_000_000;
/// Most lines of an invoice.
const LINES_MAX: usize = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Invoice {
    /// Currency of the invoice, such as `USD`.
    currency: String,
    /// Euros for one unit of the currency, if the invoice states the rate.
    #[serde(default)]
    rate: Option<f64>,
    lines: Vec<Line>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Line {
    /// Code of the customs tariff.
    tariff: String,
    /// Value in cents of the invoice's currency.
    cents: u64,
    /// Duty in tenths of a percent.
    duty_per_mille: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Estimate {
    /// Duty in euro cents, line by line.
    duties: Vec<Duty>,
    total_cents: u64,
    /// Rate of the conversion.
    rate: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Duty {
    tariff: String,
    cents: u64,
}

#[derive(Debug, Deserialize)]
struct Latest {
    rate: f64,
}

/// Returns the euros for one unit of the invoice's currency.
fn rate_of(invoice: &Invoice) -> Result<f64, Error> {
    if invoice.currency == "EUR" {
        return Ok(1.0);
    }
    if let Some(rate) = invoice.rate {
        return Ok(rate);
    }
    let latest: Latest = tools::call("Rate.Latest", &json!({ "from": invoice.currency, "to": "EUR" }))?;
    log::info!("one {} is {} EUR", invoice.currency, latest.rate);
    Ok(latest.rate)
}

fn estimate(invoice: Invoice, _: &step::Context) -> Result<Estimate, Error> {
    if invoice.currency.len() != 3 || !invoice.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(Error::invalid_input(format!("{:?} is no currency", invoice.currency)));
    }
    if invoice.lines.is_empty() || invoice.lines.len() > LINES_MAX {
        return Err(Error::invalid_input(format!("an invoice has 1 to {LINES_MAX} lines")));
    }
    for line in &invoice.lines {
        if line.cents > CENTS_MAX || line.duty_per_mille > 1_000 {
            return Err(Error::invalid_input(format!("the value or the duty of {} is too high", line.tariff)));
        }
    }
    let rate = rate_of(&invoice)?;
    if !(rate > 0.0 && rate < 1_000.0) {
        return Err(Error::invalid_input(format!("{rate} is no rate of {}", invoice.currency)));
    }
    let duties: Vec<Duty> = invoice
        .lines
        .into_iter()
        .map(|line| {
            let cents = line.cents as f64 * rate * f64::from(line.duty_per_mille) / 1_000.0;
            Duty { tariff: line.tariff, cents: cents.round() as u64 }
        })
        .collect();
    Ok(Estimate { total_cents: duties.iter().map(|duty| duty.cents).sum(), duties, rate })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Duty.Estimate", estimate)
            .describe("Estimates the customs duty of a shipment in euros.")
            .determinism(Determinism::Stable),
    ],
}
