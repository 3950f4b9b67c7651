use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const TICKETS: &str = "https://desk.example/api/tickets";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Problem {
    subject: String,
    urgent: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ticket {
    id: u32,
}

fn open(problem: Problem, context: &tool::Context) -> Result<Output<Ticket>, Error> {
    if problem.subject.trim().is_empty() {
        return Err(Error::invalid_input("the ticket has no subject"));
    }
    let priority = if problem.urgent { 1 } else { 3 };
    let body = json!({ "subject": problem.subject, "priority": priority, "origin": context.external_key() });
    let response =
        http::Request::post(TICKETS).header("content-type", "application/json").body(body.to_string()).send()?;
    match response.status() {
        200 | 201 => opened(response.body()),
        400..=499 => Err(Error::invalid_input(format!("the helpdesk answered {}", response.status()))),
        status => Err(Error::dependency_unavailable(format!("the helpdesk is down: {status}"))
            .retry_after(Duration::from_secs(5))
            .not_applied()),
    }
}

fn opened(body: &[u8]) -> Result<Output<Ticket>, Error> {
    let ticket: Ticket =
        serde_json::from_slice(body).map_err(|error| Error::schema_validation_failed(error.to_string()))?;
    let change = Change::new("ticket", ticket.id.to_string(), "create");
    Ok(Output::new(ticket).change(change))
}

/// Asks the helpdesk for the ticket with the key of the call as its origin.
fn find(_: Problem, key: &str) -> Result<Verdict<Output<Ticket>>, Error> {
    let response = http::Request::get(&format!("{TICKETS}?origin={key}")).send()?;
    if response.status() != 200 {
        return Err(Error::dependency_unavailable(format!("the helpdesk answered {}", response.status())));
    }
    let found: Vec<serde_json::Value> =
        serde_json::from_slice(response.body()).map_err(|error| Error::schema_validation_failed(error.to_string()))?;
    Ok(match found.first() {
        Some(ticket) => Verdict::Happened(opened(ticket.to_string().as_bytes())?),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("TicketOpen.Open", open)
            .describe("Opens a ticket at the helpdesk.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(30))
            .reconcile(find),
    ],
    exports: [reconcile],
}
