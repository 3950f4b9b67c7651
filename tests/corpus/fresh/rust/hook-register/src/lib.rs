use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const HOOKS: &str = "https://forge.example/api/hooks";

#[derive(Deserialize, JsonSchema)]
struct Hook {
    repository: String,
    target: String,
}

#[derive(Serialize, JsonSchema)]
struct Registered {
    id: String,
}

fn read(response: &http::Response) -> Result<Value, Error> {
    match response.status() {
        200..=299 => from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string())),
        429 => Err(Error::rate_limit("too many requests")),
        status => Err(Error::temporary_provider_error(format!("status {status}"))),
    }
}

fn create(hook: &Hook, key: &str) -> Result<Output<Registered>, Error> {
    let body = json!({ "repository": hook.repository, "target": hook.target, "reference": key });
    let request = http::Request::post(HOOKS).header("content-type", "application/json").body(body.to_string());
    let made = read(&request.timeout(Duration::from_secs(5)).send()?)?;
    Ok(registered(&made))
}

fn registered(hook: &Value) -> Output<Registered> {
    let id = hook["id"].as_str().unwrap_or_default();
    Output::new(Registered { id: id.to_owned() }).change(Change::new("hook", id, "create"))
}

fn register(hook: Hook, context: &tool::Context) -> Result<Output<Registered>, Error> {
    create(&hook, context.external_key())
}

fn reconcile(hook: Hook, key: &str) -> Result<Verdict<Output<Registered>>, Error> {
    let found = http::Request::get(&format!("{HOOKS}?reference={key}")).timeout(Duration::from_secs(5)).send()?;
    let hooks = read(&found)?;
    match hooks.get(0) {
        Some(existing) => Ok(Verdict::Happened(registered(existing))),
        // The request was lost on the way. It is sent here, so that the job need not start over.
        None => Ok(Verdict::Happened(create(&hook, key)?)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Hook.Register", register)
            .describe("Registers a web hook of a repository.")
            .effects([Effect::ExternalWrite])
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
