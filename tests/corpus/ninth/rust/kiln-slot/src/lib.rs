//! Reserves a shelf of the studio's kiln. The planner lists a reservation as soon as it has answered, and drops a request
//! that it could not begin within 20 s. A new reservation has the entity tag "1".

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

const FIRINGS: &str = "https://kiln.example/firings";

#[derive(Deserialize, JsonSchema)]
struct Wish {
    potter: String,
    day: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Reserved {
    id: String,
}

fn reserved(firing: Reserved) -> Output<Reserved> {
    let change = Change::new("firing", &firing.id, "create").etag("\"1\"");
    Output::new(firing).change(change)
}

fn refused(status: u16) -> Error {
    match status {
        400 | 401 | 403 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(format!("refused: {status}")),
        _ => Error::temporary_provider_error(format!("the planner answered {status}")),
    }
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::schema_validation_failed(format!("answer of the planner: {error}"))
}

fn reserve(wish: Wish, context: &tool::Context) -> Result<Output<Reserved>, Error> {
    let body = json!({ "potter": wish.potter, "day": wish.day, "reference": context.external_key() }).to_string();
    let answer = Request::post(FIRINGS).header("content-type", "application/json").body(body).send()?;
    match answer.status() {
        200 | 201 => Ok(reserved(serde_json::from_slice(answer.body()).map_err(unreadable)?)),
        status => Err(refused(status)),
    }
}

fn find(_: Wish, key: &str) -> Result<Verdict<Output<Reserved>>, Error> {
    let answer = Request::get(&format!("{FIRINGS}?reference={key}")).send()?;
    if answer.status() != 200 {
        return Err(refused(answer.status()));
    }
    let found: Vec<Reserved> = serde_json::from_slice(answer.body()).map_err(unreadable)?;
    Ok(found.into_iter().next().map_or(Verdict::DidNotHappen, |firing| Verdict::Happened(reserved(firing))))
}

fn give_back(_: Wish, firing: Reserved, _key: &str) -> Result<Output<()>, Error> {
    let answer = Request::new("DELETE", &format!("{FIRINGS}/{}", firing.id)).header("if-match", "\"1\"").send()?;
    match answer.status() {
        // Without an entry there is nothing left to do.
        200 | 204 | 404 | 410 => Ok(Output::new(()).change(Change::new("firing", &firing.id, "delete"))),
        409 | 412 => Err(Error::policy_denied("the reservation was changed since")),
        status => Err(refused(status)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Kiln.Reserve", reserve)
            .describe("Reserves a shelf of the kiln.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(30))
            .reconcile(find)
            .compensate(give_back),
    ],
    exports: [reconcile, compensate],
}
