//! `Request.Apply`: changes a record, once per external key.
//!
//! A record is a folder of numbered revisions. Each revision is a file that appears atomically and never
//! changes. Two writers cannot create the same revision, so no change is lost. Each revision names the call
//! that created it, so a repeated call finds the revision of its first execution.

mod records;

use latchwork_guest::tool::{Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, log, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use records::{Record, Revision};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Id of the record: 1 to 64 of letters, digits, `-` and `_`.
    request_id: String,
    /// Fields with their new values. `null` removes a field.
    set: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Applied {
    request_id: String,
    /// Number of the revision that the change created.
    revision: u32,
    /// Whole record after the change.
    record: Map<String, Value>,
}

fn apply(args: Args, context: &tool::Context) -> Result<Output<Applied>, Error> {
    let record = Record::open(&args.request_id)?;
    if args.set.is_empty() {
        return Err(Error::invalid_input("set: no field"));
    }
    let revision = record.change(context.external_key(), |fields| merge(fields, &args.set))?;
    Ok(applied(&args.request_id, revision, "update"))
}

fn reconcile(args: Args, key: &str) -> Result<Verdict<Output<Applied>>, Error> {
    let found = Record::open(&args.request_id)?.revisions()?.into_iter().find(|revision| revision.key == key);
    Ok(match found {
        Some(revision) => Verdict::Happened(applied(&args.request_id, revision, "update")),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let revisions = Record::open(&change.resource_id)?.revisions()?;
    let number = change.version.as_deref().and_then(|version| version.parse().ok());
    let Some(recorded) = revisions.iter().find(|revision| Some(revision.revision) == number) else {
        let version = change.version.as_deref().unwrap_or("none");
        return Ok(Finding::Mismatch(format!("request {} has no revision {version}", change.resource_id)));
    };
    let undone = records::undo_key(&recorded.key);
    Ok(match revisions.iter().find(|revision| revision.key == undone) {
        Some(by) => Finding::Mismatch(format!("undone by revision {}", by.revision)),
        None => Finding::Confirmed,
    })
}

fn compensate(args: Args, done: Applied, key: &str) -> Result<Output<Applied>, Error> {
    let record = Record::open(&args.request_id)?;
    let revisions = record.revisions()?;
    if !revisions.iter().any(|revision| revision.revision == done.revision) {
        let (number, id) = (done.revision, &args.request_id);
        return Err(Error::policy_denied(format!("revision {number} of request {id} does not exist any more")));
    }
    let before = revisions
        .iter()
        .rev()
        .find(|revision| revision.revision < done.revision)
        .map(|revision| revision.record.clone())
        .unwrap_or_default();
    let revision = record.change(&records::undo_key(key), |fields| {
        for (name, value) in &args.set {
            // A field that a later call has changed keeps the value of the later call.
            let current = fields.get(name).unwrap_or(&Value::Null);
            if current == value {
                put(fields, name, before.get(name).unwrap_or(&Value::Null));
            } else {
                log::info!("{name} was changed by another call since and is kept");
            }
        }
    })?;
    Ok(applied(&args.request_id, revision, "revert"))
}

fn merge(fields: &mut Map<String, Value>, set: &Map<String, Value>) {
    for (name, value) in set {
        put(fields, name, value);
    }
}

fn put(fields: &mut Map<String, Value>, name: &str, value: &Value) {
    match value {
        Value::Null => fields.remove(name),
        value => fields.insert(name.to_owned(), value.clone()),
    };
}

fn applied(request_id: &str, revision: Revision, operation: &str) -> Output<Applied> {
    let change = Change::new("request", request_id, operation)
        .version(revision.revision.to_string())
        .external_ref(records::file_name(revision.revision));
    let receipt = serde_json::json!({ "request_id": request_id, "revision": revision.revision });
    let applied = Applied { request_id: request_id.to_owned(), revision: revision.revision, record: revision.record };
    Output::new(applied).receipt(receipt).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Request.Apply", apply)
            .describe("Changes fields of a request's record.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [reconcile, verify, compensate],
}

#[cfg(test)]
mod tests;
