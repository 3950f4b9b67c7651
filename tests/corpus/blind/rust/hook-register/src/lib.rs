use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const HOOKS: &str = "https://hooks.example/v1/subscriptions";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    callback: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Hook {
    id: u32,
}

fn ask(method: &str, url: &str, key: &str, body: Option<String>) -> Result<http::Response, Error> {
    let token = secrets::get("HOOKS_TOKEN")?;
    let mut request = http::Request::new(method, url).header("authorization", &format!("Bearer {token}"));
    if let Some(body) = body {
        request = request.header("content-type", "application/json").header("idempotency-key", key).body(body);
    }
    Ok(request.timeout(Duration::from_secs(10)).send()?)
}

fn refused(response: &http::Response) -> Error {
    match response.status() {
        401 | 403 => Error::auth_forbidden("the token is not accepted"),
        429 => Error::rate_limit("too many requests"),
        status @ (400 | 404 | 422) => Error::invalid_input(format!("the server answered {status}")),
        status => Error::temporary_provider_error(format!("the server answered {status}")),
    }
}

fn register(wanted: Wanted, context: &tool::Context) -> Result<Output<Hook>, Error> {
    if !wanted.callback.starts_with("https://") {
        return Err(Error::invalid_input("the callback is not an https address"));
    }
    let key = context.external_key();
    let response = ask("POST", HOOKS, key, Some(json!({ "callback": wanted.callback, "reference": key }).to_string()))?;
    if response.status() != 201 {
        return Err(refused(&response));
    }
    let hook =
        serde_json::from_slice(response.body()).map_err(|error| Error::schema_validation_failed(error.to_string()))?;
    Ok(registered(hook))
}

fn registered(hook: Hook) -> Output<Hook> {
    let change = Change::new("subscription", hook.id.to_string(), "create");
    Output::new(hook).change(change)
}

/// The server filters by the reference, which is the key of the call.
fn find(_: Wanted, key: &str) -> Result<Verdict<Output<Hook>>, Error> {
    let response = ask("GET", &format!("{HOOKS}?reference={key}"), key, None)?;
    if response.status() != 200 {
        return Err(refused(&response));
    }
    let mut found: Vec<Hook> =
        serde_json::from_slice(response.body()).map_err(|error| Error::schema_validation_failed(error.to_string()))?;
    Ok(match (found.pop(), found.pop()) {
        (Some(hook), None) => Verdict::Happened(registered(hook)),
        (None, _) => Verdict::DidNotHappen,
        _ => Verdict::Unknown,
    })
}

fn check(change: &Change) -> Result<Finding, Error> {
    let response = ask("GET", &format!("{HOOKS}/{}", change.resource_id), "", None)?;
    match response.status() {
        200 => Ok(Finding::Confirmed),
        404 | 410 => Ok(Finding::Mismatch("the subscription does not exist any more".into())),
        _ => Err(refused(&response)),
    }
}

fn cancel(_: Wanted, hook: Hook, key: &str) -> Result<Output<()>, Error> {
    let response = ask("DELETE", &format!("{HOOKS}/{}", hook.id), key, None)?;
    match response.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("subscription", hook.id.to_string(), "delete"))),
        404 | 410 => Err(Error::policy_denied("the subscription does not exist any more")),
        _ => Err(refused(&response)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("HookRegister.Add", register)
            .describe("Registers a callback at a server.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find)
            .verify(check)
            .compensate(cancel),
    ],
    exports: [reconcile, verify, compensate],
}
