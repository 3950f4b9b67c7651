use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The desk keeps an Idempotency-Key for two days. It lists a ticket as soon as it has answered the request.
const TICKETS: &str = "https://desk.example/tickets";

#[derive(Deserialize, JsonSchema)]
struct Problem {
    subject: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ticket {
    id: String,
}

fn opened(ticket: Ticket) -> Output<Ticket> {
    let change = Change::new("ticket", &ticket.id, "create").external_ref(format!("{TICKETS}/{}", ticket.id));
    Output::new(ticket).change(change)
}

/// Reads a ticket of the desk. Its id becomes a part of addresses.
fn valid(ticket: Ticket) -> Result<Ticket, Error> {
    let plain = !ticket.id.is_empty() && ticket.id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain {
        Ok(ticket)
    } else {
        Err(Error::temporary_provider_error("the desk sent an invalid ticket").applied_unknown())
    }
}

fn look_up(key: &str) -> Result<Option<Ticket>, Error> {
    let response = http::Request::get(&format!("{TICKETS}?key={key}")).send()?;
    if response.status() != 200 {
        return Err(Error::temporary_provider_error(format!("the desk answered {}", response.status())));
    }
    let tickets: Vec<Ticket> = serde_json::from_slice(response.body())
        .map_err(|error| Error::temporary_provider_error(format!("the list of tickets is invalid: {error}")))?;
    tickets.into_iter().next().map(valid).transpose()
}

fn open(problem: Problem, context: &tool::Context) -> Result<Output<Ticket>, Error> {
    let key = context.external_key();
    let request =
        http::Request::post(TICKETS).header("idempotency-key", key).header("content-type", "application/json");
    let response = request.body(json!({ "subject": problem.subject }).to_string()).send()?;
    match response.status() {
        200 | 201 => {
            let ticket = serde_json::from_slice(response.body()).map_err(|error| {
                Error::temporary_provider_error(format!("the ticket is invalid: {error}")).applied_unknown()
            })?;
            Ok(opened(valid(ticket)?))
        }
        409 => match look_up(key).map_err(Error::applied_unknown)? {
            Some(ticket) => Ok(opened(ticket)),
            None => {
                Err(Error::temporary_provider_error("the desk still works on an earlier request").applied_unknown())
            }
        },
        429 => Err(Error::rate_limit("too many tickets").retry_after(Duration::from_secs(30))),
        401 | 403 => Err(Error::auth_forbidden("the desk refuses this account")),
        400 | 422 => Err(Error::invalid_input("the desk refuses this subject")),
        status => Err(Error::temporary_provider_error(format!("the desk answered {status}")).applied_unknown()),
    }
}

fn find(_: Problem, key: &str) -> Result<Verdict<Output<Ticket>>, Error> {
    Ok(look_up(key)?.map_or(Verdict::DidNotHappen, |ticket| Verdict::Happened(opened(ticket))))
}

fn check(change: &Change) -> Result<Finding, Error> {
    let response = http::Request::get(change.external_ref.as_deref().unwrap_or_default()).send()?;
    match response.status() {
        200 => Ok(Finding::Confirmed),
        404 | 410 => Ok(Finding::Mismatch("there is no such ticket".into())),
        status => Err(Error::temporary_provider_error(format!("the desk answered {status}"))),
    }
}

fn close(_: Problem, ticket: Ticket, _: &str) -> Result<Output<()>, Error> {
    let response = http::Request::new("DELETE", &format!("{TICKETS}/{}", ticket.id)).send()?;
    match response.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("ticket", &ticket.id, "delete"))),
        404 | 410 => Err(Error::policy_denied("the ticket was removed by another party")),
        401 | 403 => Err(Error::policy_denied("the desk keeps the ticket")),
        status => Err(Error::temporary_provider_error(format!("the desk answered {status}")).applied_unknown()),
    }
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Ticket.OpenNew", open)
            .describe("Opens a ticket at the help desk.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(86_400))
            .settles_within(Duration::from_secs(120))
            .reconcile(find)
            .verify(check)
            .compensate(close),
    ],
    exports: [reconcile, verify, compensate],
}
