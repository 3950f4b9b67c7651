//! `Loan.Register`: registers the loan of a painting in the register of the lenders, which drops duplicates by key.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const LOANS: &str = "https://register.example/loans";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Loan {
    painting: String,
    borrower: String,
    weeks: u16,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Entry {
    number: String,
    /// Version of the entry, which each change of the register raises.
    version: u32,
}

fn read<T: serde::de::DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unreadable answer: {error}")).applied_unknown())
}

/// The entry that an earlier try of this call has made.
fn earlier(key: &str) -> Result<Output<Entry>, Error> {
    let response = http::Request::get(&format!("{LOANS}?key={key}"))
        .send()
        .map_err(|error| Error::from(error).applied_unknown())?;
    if response.status() != 200 {
        let said = format!("the register answered {} to a question", response.status());
        return Err(Error::temporary_provider_error(said).applied_unknown());
    }
    let entries: Vec<Entry> = read(&response)?;
    match entries.into_iter().next() {
        Some(entry) => Ok(Output::new(entry)),
        None => Err(Error::policy_denied("the painting is on loan already").not_applied()),
    }
}

fn register(loan: Loan, context: &tool::Context) -> Result<Output<Entry>, Error> {
    if loan.weeks == 0 || loan.weeks > 104 {
        return Err(Error::invalid_input("a loan has 1 to 104 weeks"));
    }
    let key = context.external_key();
    let body = json!({ "painting": loan.painting, "borrower": loan.borrower, "weeks": loan.weeks });
    let response = http::Request::post(LOANS)
        .header("idempotency-key", key)
        .header("content-type", "application/json")
        .timeout(context.timeout().mul_f32(0.4))
        .body(body.to_string())
        .send()?;
    let said = format!("the register answered {}", response.status());
    match response.status() {
        200..=299 => {
            let entry: Entry = read(&response)?;
            let change = Change::new("loan", &entry.number, "create").version(entry.version.to_string());
            Ok(Output::new(entry).change(change))
        }
        409 => earlier(key),
        401 | 403 => Err(Error::auth_forbidden(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        429 => Err(Error::rate_limit(said)),
        _ => Err(Error::temporary_provider_error(said).applied_unknown()),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Loan.Register", register)
            .describe("Registers the loan of a painting.")
            .effects([Effect::ExternalWrite])
            // The register keeps keys for a year.
            .idempotent_by_key(Duration::from_secs(365 * 86_400)),
    ],
}
