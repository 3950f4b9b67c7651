//! Records the keys that the office of a school hands out.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Handout {
    #[schemars(length(min = 1, max = 20))]
    room: String,
    #[schemars(length(min = 1, max = 80))]
    holder: String,
    /// Last day on which the holder may have the key, such as `2031-05-09`.
    #[schemars(regex(pattern = r"^2[0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))]
    until: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Recorded {
    /// Name of the entry in the cabinet's map.
    entry: String,
    /// Time of the first record.
    at: String,
}

/// Value of an entry.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Entry {
    handout: Handout,
    at: String,
}

fn name(key: &str) -> String {
    format!("handout:{key}")
}

/// Reads an entry. An entry that cannot be read is an error and does not count as missing.
fn find(name: &str) -> Result<Option<Entry>, Error> {
    let Some(bytes) = kv::get(name)? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::schema_validation_failed(format!("the entry {name} is damaged: {error}")).not_applied())
}

fn output(entry: Entry, name: String, key: &str) -> Output<Recorded> {
    let change = Change::new("handout", key, "create").version(&entry.at).external_ref(&name);
    Output::new(Recorded { entry: name, at: entry.at }).change(change)
}

fn record(handout: Handout, context: &tool::Context) -> Result<Output<Recorded>, Error> {
    let key = context.external_key();
    let name = name(key);
    // A repetition keeps the time of the first try, and may come after the last day.
    if let Some(entry) = find(&name)? {
        return Ok(output(entry, name, key));
    }
    let now = wall::now().to_string();
    // Days of this form have the order of their texts.
    if now.get(..10).is_none_or(|today| handout.until.as_str() < today) {
        return Err(Error::invalid_input(format!("{} is over", handout.until)));
    }
    let entry = Entry { handout, at: now };
    let text = serde_json::to_vec(&entry)
        .map_err(|error| Error::invalid_input(format!("the handout is not JSON: {error}")))?;
    kv::set(&name, &text)?;
    Ok(output(entry, name, key))
}

fn reconcile(_: Handout, key: &str) -> Result<Verdict<Output<Recorded>>, Error> {
    let name = name(key);
    Ok(find(&name)?.map_or(Verdict::DidNotHappen, |entry| Verdict::Happened(output(entry, name, key))))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let Some(name) = change.external_ref.as_deref() else {
        return Err(Error::missing_required_context("the change names no entry"));
    };
    Ok(match find(name)? {
        Some(entry) => Finding::compare(change.version.as_deref(), &entry.at),
        None => Finding::Mismatch(format!("the entry {name} is missing")),
    })
}

fn cancel(handout: Handout, recorded: Recorded, key: &str) -> Result<Output<()>, Error> {
    let missing = || Error::policy_denied("the entry of the handout was removed");
    let entry = find(&recorded.entry)?.ok_or_else(missing)?;
    if entry != (Entry { handout, at: recorded.at }) {
        return Err(Error::policy_denied("the entry of the handout was changed"));
    }
    if !kv::delete(&recorded.entry)? {
        return Err(missing());
    }
    Ok(Output::new(()).change(Change::new("handout", key, "delete").external_ref(recorded.entry)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Key.HandOut", record)
            .describe("Records that a key was handed out.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 24 * 3600))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(cancel),
    ],
    exports: [reconcile, verify, compensate],
}
