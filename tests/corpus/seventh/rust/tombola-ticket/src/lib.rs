//! Sells tickets of a tombola, each with a number that is drawn at random.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, kv, log, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Buyer {
    name: String,
}

#[derive(Serialize, Deserialize, PartialEq, JsonSchema)]
struct Ticket {
    /// Random number of 12 hexadecimal digits.
    number: String,
    name: String,
    sold_at: String,
}

fn place(key: &str) -> String {
    format!("ticket/{key}")
}

fn find(place: &str) -> Result<Option<Ticket>, Error> {
    let Some(bytes) = kv::get(place)? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::policy_denied(format!("{place} is no ticket: {error}")))
}

fn sell(buyer: Buyer, context: &tool::Context) -> Result<Output<Ticket>, Error> {
    if buyer.name.trim().is_empty() || buyer.name.len() > 200 {
        return Err(Error::invalid_input("the name of the buyer has 1 to 200 bytes"));
    }
    let key = context.external_key();
    log::info!("slot {}, attempt {}, {} tries before", context.slot(), context.attempt(), context.tries_before());
    // An earlier try of this call has sold the ticket already.
    if let Some(ticket) = find(&place(key))? {
        return Ok(sold(ticket, key));
    }
    let number = wall::random(6).iter().map(|byte| format!("{byte:02x}")).collect();
    let ticket = Ticket { number, name: buyer.name, sold_at: wall::now().to_string() };
    let text = serde_json::to_vec(&ticket).map_err(|error| Error::invalid_input(error.to_string()))?;
    kv::set(&place(key), &text)?;
    Ok(sold(ticket, key))
}

fn sold(ticket: Ticket, key: &str) -> Output<Ticket> {
    let receipt = serde_json::json!({ "number": ticket.number });
    let change = Change::new("ticket", place(key), "create").version(&ticket.number);
    Output::new(ticket).receipt(receipt).change(change)
}

fn reconcile(_: Buyer, key: &str) -> Result<Verdict<Output<Ticket>>, Error> {
    Ok(find(&place(key))?.map_or(Verdict::DidNotHappen, |ticket| Verdict::Happened(sold(ticket, key))))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(&change.resource_id)? {
        Some(ticket) => Finding::compare(change.version.as_deref(), &ticket.number),
        None => Finding::Mismatch("the ticket is not there".into()),
    })
}

fn take_back(_: Buyer, ticket: Ticket, key: &str) -> Result<Output<()>, Error> {
    match find(&place(key))? {
        Some(found) if found == ticket => {}
        Some(_) => return Err(Error::policy_denied("the ticket was changed since")),
        None => return Err(Error::policy_denied("the ticket is no longer there")),
    }
    if !kv::delete(&place(key))? {
        return Err(Error::policy_denied("the ticket was taken back by another party"));
    }
    Ok(Output::new(()).change(Change::new("ticket", place(key), "delete")))
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Tombola.Sell", sell)
            .describe("Sells a ticket of the tombola.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(30 * 24 * 3600))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(take_back),
    ],
    exports: [reconcile, verify, compensate],
}
