//! Issues day passes for visitors of a depot. The gatehouse reads the passes from the map of the plugin.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Letters and digits that are not confused on a printed pass.
const LETTERS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Visit {
    #[schemars(length(min = 1, max = 40))]
    depot: String,
    #[schemars(length(min = 1, max = 80))]
    visitor: String,
    #[schemars(length(max = 500))]
    #[serde(default)]
    purpose: String,
}

/// A pass, as the map keeps it and as the caller gets it.
#[derive(Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
struct Pass {
    code: String,
    depot: String,
    visitor: String,
    purpose: String,
    issued_at: String,
}

/// The pass that the call with this key has issued. A value that is no pass is an error, and never a missing pass.
fn load(key: &str) -> Result<Option<Pass>, Error> {
    let Some(value) = kv::get(key)? else { return Ok(None) };
    serde_json::from_slice(&value)
        .map(Some)
        .map_err(|error| Error::schema_validation_failed(format!("the entry {key} is no pass: {error}")))
}

fn output(key: &str, pass: Pass) -> Output<Pass> {
    let receipt = json!({ "code": pass.code, "issued_at": pass.issued_at });
    let change = Change::new("pass", key, "create").version(&pass.code);
    Output::new(pass).receipt(receipt).change(change)
}

fn issue(visit: Visit, context: &tool::Context) -> Result<Output<Pass>, Error> {
    let key = context.external_key();
    // An earlier try of this call may have issued the pass, with its own code and time.
    if let Some(pass) = load(key)? {
        return Ok(output(key, pass));
    }
    if visit.visitor.trim().is_empty() {
        return Err(Error::invalid_input("the visitor has no name"));
    }
    let code = wall::random(8).iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
    let pass = Pass {
        code,
        depot: visit.depot,
        visitor: visit.visitor,
        purpose: visit.purpose,
        issued_at: wall::now().to_string(),
    };
    let value = serde_json::to_vec(&pass).map_err(|error| Error::invalid_input(format!("no pass: {error}")))?;
    kv::set(key, &value)?;
    Ok(output(key, pass))
}

fn find(_: Visit, key: &str) -> Result<Verdict<Output<Pass>>, Error> {
    Ok(match load(key)? {
        Some(pass) => Verdict::Happened(output(key, pass)),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match load(&change.resource_id)? {
        Some(pass) => Finding::compare(change.version.as_deref(), &pass.code),
        None => Finding::Mismatch("the pass is missing".into()),
    })
}

fn revoke(_: Visit, issued: Pass, key: &str) -> Result<Output<()>, Error> {
    match load(key).map_err(Error::not_applied)? {
        None => return Err(Error::policy_denied("the pass is no longer there")),
        Some(pass) if pass != issued => return Err(Error::policy_denied("the pass was changed after it was issued")),
        Some(_) => {}
    }
    match kv::delete(key) {
        Ok(true) => Ok(Output::new(()).change(Change::new("pass", key, "delete"))),
        Ok(false) => Err(Error::policy_denied("the pass is no longer there")),
        Err(error) => Err(error.applied_unknown()),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pass.Issue", issue)
            .describe("Issues a day pass for a visitor of a depot.")
            .effects([Effect::InternalWrite])
            // Nothing but an undo removes an entry.
            .idempotent_by_key(Duration::from_secs(7 * 86_400))
            .reconcile(find)
            .verify(verify)
            .compensate(revoke),
    ],
    exports: [reconcile, verify, compensate],
}
