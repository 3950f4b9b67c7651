//! Pays stipends by SEPA credit transfer through the bank's payment API.
//!
//! The bank drops a second transfer with the same `Idempotency-Key` for three days, and answers with the first one.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stipend {
    /// Name of the student.
    student: String,
    iban: String,
    cents: u32,
    /// Text on the statement, at most 140 characters.
    purpose: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Paid {
    transfer: String,
    end_to_end_id: String,
}

#[derive(Deserialize)]
struct Transfer {
    id: String,
}

/// The end-to-end id of the call: SEPA allows 35 characters, and banks accept letters and digits only. It is the same
/// in every try of the call, so it serves as the idempotency key as well.
fn end_to_end_id(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).take(35).collect()
}

fn api(path: &str) -> Result<String, Error> {
    Ok(format!("{}/v2/{path}", config::require::<String>("bank")?))
}

fn bearer() -> Result<String, Error> {
    Ok(format!("Bearer {}", secrets::get("BANK_TOKEN")?))
}

fn paid(transfer: Transfer, reference: String) -> Output<Paid> {
    let receipt = json!({ "transfer": transfer.id, "end_to_end_id": reference });
    let change = Change::new("transfer", &reference, "create").external_ref(format!("transfers/{}", transfer.id));
    Output::new(Paid { transfer: transfer.id, end_to_end_id: reference }).receipt(receipt).change(change)
}

/// Asks the bank for the transfer with this end-to-end id.
fn lookup(reference: &str) -> Result<Option<Transfer>, Error> {
    let url = api(&format!("transfers?end_to_end_id={reference}"))?;
    let response = http::Request::get(&url).header("authorization", &bearer()?).send()?;
    match response.status() {
        200 => {
            let found: Vec<Transfer> = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("list of transfers: {error}")))?;
            Ok(found.into_iter().next())
        }
        401 | 403 => Err(Error::auth_forbidden("the bank refused the token").applied_unknown()),
        status => Err(Error::temporary_provider_error(format!("list of transfers: status {status}"))),
    }
}

fn valid(iban: &str) -> bool {
    let digits = |c: char| c.to_digit(36).map(|value| value.to_string());
    let shaped = (15..=34).contains(&iban.len()) && iban.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let turned: Option<String> = iban
        .get(4..)
        .zip(iban.get(..4))
        .and_then(|(rest, head)| rest.chars().chain(head.chars()).map(digits).collect());
    shaped && turned.is_some_and(|text| text.bytes().fold(0, |rest, c| (rest * 10 + u32::from(c - b'0')) % 97) == 1)
}

fn pay(stipend: Stipend, context: &tool::Context) -> Result<Output<Paid>, Error> {
    if !valid(&stipend.iban) {
        return Err(Error::invalid_input("the IBAN has a wrong checksum"));
    }
    if stipend.cents == 0 || stipend.cents > 500_000 {
        return Err(Error::invalid_input("a stipend is 0.01 to 5000.00 EUR"));
    }
    let reference = end_to_end_id(context.external_key());
    let purpose: String = stipend.purpose.chars().take(140).collect();
    let body: Value = json!({
        "end_to_end_id": reference,
        "creditor": { "name": stipend.student, "iban": stipend.iban },
        "amount": { "cents": stipend.cents, "currency": "EUR" },
        "purpose": purpose,
    });
    let response = http::Request::post(&api("transfers")?)
        .header("authorization", &bearer()?)
        .header("content-type", "application/json")
        .header("idempotency-key", &reference)
        .body(body.to_string())
        .send()?;
    match response.status() {
        200 | 201 => serde_json::from_slice(response.body())
            .map(|transfer| paid(transfer, reference))
            .map_err(|error| Error::schema_validation_failed(format!("transfer: {error}"))),
        400 | 422 => Err(Error::invalid_input(format!("the bank refused the transfer: {}", response.text()))),
        401 | 403 => Err(Error::auth_forbidden("the bank refused the token")),
        409 => match lookup(&reference).map_err(Error::applied_unknown)? {
            Some(transfer) => Ok(paid(transfer, reference)),
            None => Err(Error::temporary_provider_error("the bank is working on the transfer")),
        },
        429 => Err(Error::rate_limit("the bank limits the rate of transfers")),
        status => Err(Error::temporary_provider_error(format!("transfer: status {status}"))),
    }
}

fn find(_: Stipend, key: &str) -> Result<Verdict<Output<Paid>>, Error> {
    let reference = end_to_end_id(key);
    Ok(match lookup(&reference)? {
        Some(transfer) => Verdict::Happened(paid(transfer, reference)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Stipend.Pay", pay)
            .describe("Pays a stipend by SEPA credit transfer.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(3 * 86_400))
            .settles_within(Duration::from_secs(120))
            .reconcile(find),
    ],
    exports: [reconcile],
}
