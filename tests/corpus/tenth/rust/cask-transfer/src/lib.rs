//! Books the transfer of a cask in the register of the customs warehouse.
//!
//! The register keeps one transfer for each reference, for a year, and answers 412 if it has the reference already.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const TRANSFERS: &str = "https://register.example/transfers";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cask {
    cask: String,
    to: String,
    liters: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Transfer {
    transfer: String,
}

fn request(method: &str, key: &str) -> Request {
    Request::new(method, &format!("{TRANSFERS}?reference={key}")).timeout(Duration::from_secs(10))
}

fn parse(response: &Response) -> Option<Transfer> {
    serde_json::from_slice(response.body()).ok()
}

/// Returns the transfer that the register has under the reference.
fn look(key: &str) -> Result<Option<Transfer>, Error> {
    let response = request("GET", key).send()?;
    match response.status() {
        200 => match parse(&response) {
            Some(transfer) => Ok(Some(transfer)),
            None => Err(Error::schema_validation_failed("the register sent no transfer")),
        },
        404 => Ok(None),
        status => Err(Error::temporary_provider_error(format!("the register answered {status} to a question"))),
    }
}

fn book(cask: Cask, context: &tool::Context) -> Result<Output<Transfer>, Error> {
    if cask.liters == 0 || cask.to.trim().is_empty() {
        return Err(Error::invalid_input("a transfer needs an amount and a warehouse"));
    }
    let key = context.external_key();
    let body = json!({ "cask": cask.cask, "to": cask.to, "liters": cask.liters });
    let response = request("PUT", key)
        .header("content-type", "application/json")
        .header("if-none-match", "*")
        .body(body.to_string())
        .send()?;
    let said = format!("the register answered {}", response.status());
    match response.status() {
        200..=299 => match parse(&response) {
            Some(transfer) => Ok(booked(transfer, key)),
            None => match look(key).map_err(Error::applied_unknown)? {
                Some(transfer) => Ok(booked(transfer, key)),
                None => Err(Error::schema_validation_failed(said).applied_unknown()),
            },
        },
        // An earlier try may have booked the transfer under this reference.
        409 | 412 => match look(key).map_err(Error::applied_unknown)? {
            Some(transfer) => Ok(booked(transfer, key)),
            None => Err(Error::policy_denied(said)),
        },
        429 => Err(Error::rate_limit(said)),
        401 | 403 => Err(Error::auth_forbidden(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        _ => Err(Error::temporary_provider_error(said).applied_unknown()),
    }
}

fn booked(transfer: Transfer, key: &str) -> Output<Transfer> {
    let change = Change::new("transfer", &transfer.transfer, "create").external_ref(key);
    Output::new(transfer).change(change)
}

fn find(_: Cask, key: &str) -> Result<Verdict<Output<Transfer>>, Error> {
    Ok(match look(key)? {
        Some(transfer) => Verdict::Happened(booked(transfer, key)),
        None => Verdict::DidNotHappen,
    })
}

fn check(change: &Change) -> Result<Finding, Error> {
    Ok(match look(change.external_ref.as_deref().unwrap_or_default())? {
        Some(found) if found.transfer == change.resource_id => Finding::Confirmed,
        Some(found) => Finding::Mismatch(format!("the reference has transfer {}", found.transfer)),
        None => Finding::Mismatch("the register has no such transfer".into()),
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Cask.Transfer", book)
            .describe("Books the transfer of a cask.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(300 * 86_400))
            // The register answers from the table that it writes. A request may be in transit for a minute.
            .settles_within(Duration::from_secs(60))
            .reconcile(find)
            .verify(check),
    ],
    exports: [reconcile, verify],
}
