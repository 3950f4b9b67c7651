//! Hires a village hall at the server of the municipality.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Hire {
    #[schemars(length(min = 1, max = 60))]
    hall: String,
    #[schemars(regex(pattern = r"^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"))]
    day: String,
    #[schemars(length(min = 1, max = 80))]
    tenant: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Hired {
    number: String,
}

#[derive(Deserialize)]
struct Contract {
    number: String,
    revision: u32,
}

/// Builds a request about the contract of a key. A contract keeps the reference that it was created with.
fn request(method: &str, key: &str) -> Result<http::Request, Error> {
    let (server, token): (String, String) = (config::require("server")?, secrets::get("HALL_TOKEN")?);
    let request = http::Request::new(method, &format!("{server}/contracts?reference={key}"));
    Ok(request.header("authorization", &format!("Bearer {token}")).timeout(Duration::from_secs(10)))
}

fn parse(body: &[u8]) -> Result<Vec<Contract>, Error> {
    serde_json::from_slice(body).map_err(|error| Error::schema_validation_failed(format!("unexpected answer: {error}")))
}

fn refused(status: u16) -> Error {
    match status {
        401 | 403 => Error::auth_forbidden("the server refused the token"),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Error::invalid_input(format!("the server refused the hire: {status}"))
        }
        429 => Error::rate_limit("the server limits the rate of requests"),
        _ => Error::temporary_provider_error(format!("the server answered {status}")),
    }
}

fn output(number: String, key: &str) -> Output<Hired> {
    let change = Change::new("contract", key, "create").version("1").external_ref(&number);
    Output::new(Hired { number: number.clone() }).receipt(serde_json::json!({ "contract": number })).change(change)
}

/// Finds the contract of a key. An empty list proves that there is none: the server lists cancelled contracts too.
fn find(key: &str) -> Result<Option<Contract>, Error> {
    let answer = request("GET", key)?.send()?;
    if answer.status() != 200 {
        return Err(Error::temporary_provider_error(format!("a question was answered by {}", answer.status())));
    }
    Ok(parse(answer.body())?.into_iter().next())
}

fn hire(hire: Hire, context: &tool::Context) -> Result<Output<Hired>, Error> {
    let key = context.external_key();
    let body = serde_json::json!({ "hall": hire.hall, "day": hire.day, "tenant": hire.tenant }).to_string();
    let answer = request("POST", key)?.header("content-type", "application/json").body(body).send()?;
    let none = || Error::schema_validation_failed("no contract was confirmed");
    match answer.status() {
        // The answer has the same form as that to a question.
        200..=299 => Ok(output(parse(answer.body())?.into_iter().next().ok_or_else(none)?.number, key)),
        409 => match find(key).map_err(Error::applied_unknown)? {
            Some(contract) => Ok(output(contract.number, key)),
            None => Err(Error::policy_denied("the hall is let on this day")),
        },
        status => Err(refused(status)),
    }
}

fn reconcile(_: Hire, key: &str) -> Result<Verdict<Output<Hired>>, Error> {
    Ok(find(key)?.map_or(Verdict::DidNotHappen, |contract| Verdict::Happened(output(contract.number, key))))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(&change.resource_id)? {
        None => Finding::Mismatch("the server has no such contract".into()),
        Some(contract) => Finding::compare(change.version.as_deref(), &contract.revision.to_string()),
    })
}

fn release(_: Hire, _: Hired, key: &str) -> Result<Output<()>, Error> {
    let changed = || Error::policy_denied("the contract was changed or cancelled since");
    if find(key).map_err(Error::not_applied)?.is_none_or(|contract| contract.revision != 1) {
        return Err(changed());
    }
    // The server refuses the deletion with 412 if the revision is not 1 any more.
    let answer = request("DELETE", key)?.header("if-match", "\"1\"").send()?;
    match answer.status() {
        200..=299 => Ok(Output::new(()).change(Change::new("contract", key, "delete"))),
        404 | 409 | 410 | 412 => Err(changed()),
        status => Err(refused(status)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Hall.Hire", hire)
            .describe("Hires a hall for a day.")
            .effects([Effect::ExternalWrite])
            // The server drops a request that waits for more than 30 seconds. Questions see its contracts at once.
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(release),
    ],
    exports: [reconcile, verify, compensate],
}
