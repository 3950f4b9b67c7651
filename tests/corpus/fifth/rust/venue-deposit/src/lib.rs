//! Pays the deposit of a venue. The payment service drops a second request with the same key for a week, and a
//! deposit can be cancelled before it is paid out.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const DEPOSITS: &str = "https://pay.example/deposits";

#[derive(Deserialize, JsonSchema)]
struct Deposit {
    venue: String,
    cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Paid {
    id: String,
}

fn place(id: &str) -> String {
    format!("{DEPOSITS}/{id}")
}

fn pay(deposit: Deposit, context: &tool::Context) -> Result<Output<Paid>, Error> {
    if deposit.venue.is_empty() || deposit.cents == 0 {
        return Err(Error::invalid_input("the venue or the amount is empty"));
    }
    let response = http::Request::post(DEPOSITS)
        .header("content-type", "application/json")
        .header("idempotency-key", context.external_key())
        .body(json!({ "venue": deposit.venue, "cents": deposit.cents }).to_string())
        .send()?;
    match response.status() {
        200 | 201 => {}
        429 => return Err(Error::rate_limit("the payment service answered 429")),
        status @ 400..=499 => return Err(Error::invalid_input(format!("the payment service answered {status}"))),
        status => return Err(Error::temporary_provider_error(format!("the payment service answered {status}"))),
    }
    let paid: Paid = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the deposit cannot be read: {error}")))?;
    let change = Change::new("deposit", &paid.id, "create").external_ref(place(&paid.id));
    Ok(Output::new(paid).change(change))
}

/// Called when a job is resumed: checks whether the deposit is still there.
fn verify(change: &Change) -> Result<Finding, Error> {
    let response = http::Request::get(change.external_ref.as_deref().unwrap_or_default()).send()?;
    match response.status() {
        200 => Ok(Finding::Confirmed),
        404 | 410 => Ok(Finding::Mismatch("the deposit is gone".into())),
        status => Err(Error::dependency_unavailable(format!("the payment service answered {status}"))),
    }
}

/// Called when the job is cancelled or undone.
fn cancel(_: Deposit, paid: Paid, _: &str) -> Result<Output<()>, Error> {
    let response = http::Request::new("DELETE", &place(&paid.id)).send()?;
    log::info!("cancelled {}: {}", paid.id, response.status());
    Ok(Output::new(()).change(Change::new("deposit", &paid.id, "delete").external_ref(place(&paid.id))))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Venue.Deposit", pay)
            .describe("Pays the deposit of a venue.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400))
            .verify(verify)
            .compensate(cancel),
    ],
    exports: [verify, compensate],
}
