//! Issues passes with a number code for the gate of a depot.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DRIVER_MAX: usize = 120;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Visit {
    driver: String,
    /// Time after which the gate stays closed for the driver, in seconds since 1970.
    until: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Pass {
    driver: String,
    /// Six digits.
    code: String,
    issued_at: String,
}

fn entry(key: &str) -> String {
    format!("pass/{key}")
}

fn find(key: &str) -> Result<Option<Pass>, Error> {
    match kv::get(&entry(key))? {
        None => Ok(None),
        Some(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::schema_validation_failed(format!("the pass cannot be read: {error}"))),
    }
}

fn issued(pass: Pass, key: &str) -> Output<Pass> {
    let change = Change::new("gate pass", key, "create").version(&pass.code);
    Output::new(pass).change(change)
}

fn issue(visit: Visit, context: &tool::Context) -> Result<Output<Pass>, Error> {
    if visit.driver.is_empty() || visit.driver.len() > DRIVER_MAX {
        return Err(Error::invalid_input(format!("a driver has a name of 1 to {DRIVER_MAX} bytes")));
    }
    let key = context.external_key();
    // A pass that was issued keeps its code, also when its time has passed.
    if let Some(pass) = find(key)? {
        return Ok(issued(pass, key));
    }
    let now = wall::now();
    if visit.until <= now.seconds {
        return Err(Error::invalid_input(format!("the visit of {} is over", visit.driver)));
    }
    let number = wall::random(4).iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let pass = Pass { driver: visit.driver, code: format!("{:06}", number % 1_000_000), issued_at: now.to_string() };
    let text = serde_json::to_string(&pass)
        .map_err(|error| Error::invalid_input(format!("the pass cannot be written: {error}")))?;
    kv::set(&entry(key), text.as_bytes())?;
    Ok(issued(pass, key))
}

fn reconcile(_: Visit, key: &str) -> Result<Verdict<Output<Pass>>, Error> {
    Ok(match find(key)? {
        Some(pass) => Verdict::Happened(issued(pass, key)),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(&change.resource_id)? {
        Some(pass) => Finding::compare(change.version.as_deref(), &pass.code),
        None => Finding::Mismatch("the pass is missing".into()),
    })
}

fn withdraw(_: Visit, pass: Pass, key: &str) -> Result<Output<()>, Error> {
    match find(key).map_err(Error::not_applied)? {
        Some(found) if found == pass => {}
        Some(_) => return Err(Error::policy_denied("the pass was changed after it was issued")),
        None => return Err(Error::policy_denied("the pass is missing")),
    }
    if !kv::delete(&entry(key))? {
        return Err(Error::policy_denied("the pass is missing"));
    }
    Ok(Output::new(()).change(Change::new("gate pass", key, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pass.Issue", issue)
            .describe("Issues a pass for the gate.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(withdraw),
    ],
    exports: [reconcile, verify, compensate],
}
