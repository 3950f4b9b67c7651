//! Records the visit of a geocache, with a random stamp for the finder's card.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Characters in the note of a visit at most.
const NOTE_MAX: usize = 1_000;

/// Letters of a stamp, without those that look like digits.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Find {
    /// Code of the cache, such as `GC1A2B`.
    cache: String,
    finder: String,
    #[serde(default)]
    note: String,
}

/// Entry of the map, and result of the call.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Visit {
    cache: String,
    finder: String,
    note: String,
    /// Stamp of 8 letters, made when the visit was recorded.
    stamp: String,
    at: String,
}

/// Name of the entry of a call. The external key has at most 128 characters.
fn entry(key: &str) -> String {
    format!("visit:{key}")
}

/// Reads an entry. An entry that cannot be read is an error and does not count as missing.
fn read(entry: &str) -> Result<Option<Visit>, Error> {
    let Some(bytes) = kv::get(entry).map_err(Error::not_applied)? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::dependency_unavailable(format!("{entry} is damaged: {error}")).not_applied())
}

fn output(key: &str, visit: Visit) -> Output<Visit> {
    let change = Change::new("visit", entry(key), "create").version(&visit.stamp);
    let receipt = serde_json::json!({ "stamp": visit.stamp });
    Output::new(visit).receipt(receipt).change(change)
}

/// The time and the stamp differ between tries. The host repeats this call only if no try has written.
fn record(find: Find, context: &tool::Context) -> Result<Output<Visit>, Error> {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if !(4..=10).contains(&find.cache.len()) || !find.cache.chars().all(plain) {
        return Err(Error::invalid_input(format!("{:?} is no code of a cache", find.cache)));
    }
    if find.finder.trim().is_empty() || find.finder.chars().count() > 80 {
        return Err(Error::invalid_input("the name of the finder has 1 to 80 characters"));
    }
    if find.note.chars().count() > NOTE_MAX {
        return Err(Error::invalid_input(format!("the note has more than {NOTE_MAX} characters")));
    }
    let stamp =
        wall::random(8).into_iter().map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()])).collect();
    let at = wall::now().to_string();
    let visit = Visit { cache: find.cache, finder: find.finder, note: find.note, stamp, at };
    let text = serde_json::to_vec(&visit).map_err(|error| Error::invalid_input(error.to_string()))?;
    let key = context.external_key();
    kv::set(&entry(key), &text)?;
    Ok(output(key, visit))
}

fn reconcile(_: Find, key: &str) -> Result<Verdict<Output<Visit>>, Error> {
    Ok(match read(&entry(key))? {
        Some(visit) => Verdict::Happened(output(key, visit)),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&change.resource_id)? {
        Some(visit) => Finding::compare(change.version.as_deref(), &visit.stamp),
        None => Finding::Mismatch("the visit is not in the book".into()),
    })
}

/// Removes the visit. An entry that is missing or has another stamp cannot be undone.
fn strike(_: Find, visit: Visit, key: &str) -> Result<Output<()>, Error> {
    let entry = entry(key);
    match read(&entry)? {
        Some(found) if found.stamp == visit.stamp && found.note == visit.note => {}
        Some(_) => return Err(Error::policy_denied("the visit was changed since")),
        None => return Err(Error::policy_denied("the visit is not in the book any more")),
    }
    if !kv::delete(&entry)? {
        return Err(Error::policy_denied("the visit was removed by another call"));
    }
    Ok(Output::new(()).change(Change::new("visit", entry, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Geocache.Visit", record)
            .describe("Records the visit of a geocache.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .verify(verify)
            .compensate(strike),
    ],
    exports: [reconcile, verify, compensate],
}
