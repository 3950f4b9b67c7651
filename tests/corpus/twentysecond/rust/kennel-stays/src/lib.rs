//! Keeps the stays of a boarding kennel in the map. The entry of a stay has the external key of its admission as name.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Admission {
    #[schemars(length(min = 1, max = 120))]
    animal: String,
    /// Last day of the stay, such as `2026-08-14`.
    #[schemars(regex(pattern = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))]
    until: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Discharge {
    #[schemars(regex(pattern = "^[A-Za-z0-9_:/~-]{1,128}$"))]
    id: String,
}

/// An entry of the map. A stay that ended keeps its entry, because a late repetition of its admission looks for it.
#[derive(Serialize, Deserialize)]
struct Stay {
    animal: String,
    until: String,
    admitted: String,
    ended: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Kept {
    id: String,
    state: String,
}

fn state(stay: &Stay) -> String {
    match &stay.ended {
        Some(time) => format!("ended {time}"),
        None => format!("open {}", stay.admitted),
    }
}

fn kept(id: &str, operation: &str, stay: &Stay) -> Output<Kept> {
    let change = Change::new("stay", id, operation).version(state(stay));
    Output::new(Kept { id: id.to_owned(), state: state(stay) }).change(change)
}

fn read(id: &str) -> Result<Option<Stay>, Error> {
    let entry = kv::get(id).map_err(Error::not_applied)?;
    let stay = entry.map(|entry| serde_json::from_slice(&entry));
    stay.transpose().map_err(|error| Error::schema_validation_failed(format!("stay {id}: {error}")).not_applied())
}

fn write(id: &str, operation: &str, stay: &Stay) -> Result<Output<Kept>, Error> {
    kv::set(id, &serde_json::to_vec(stay).map_err(|error| Error::invalid_input(error.to_string()))?)?;
    Ok(kept(id, operation, stay))
}

fn admit(new: Admission, context: &tool::Context) -> Result<Output<Kept>, Error> {
    // A repetition finds its entry, also after the last day, and also if the stay has ended.
    let id = context.external_key();
    if let Some(stay) = read(id)? {
        return Ok(kept(id, "create", &stay));
    }
    let now = wall::now().to_string();
    if new.until.as_str() < &now[..10] {
        return Err(Error::invalid_input(format!("the last day {} is over", new.until)));
    }
    write(id, "create", &Stay { animal: new.animal, until: new.until, admitted: now, ended: None })
}

/// Ends a stay. A stay that has ended already keeps its time.
fn discharge(Discharge { id }: Discharge, _: &tool::Context) -> Result<Output<Kept>, Error> {
    let mut stay = read(&id)?.ok_or_else(|| Error::invalid_input(format!("there is no stay {id}")))?;
    if stay.ended.is_none() {
        stay.ended = Some(wall::now().to_string());
        return write(&id, "update", &stay);
    }
    Ok(kept(&id, "update", &stay))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&change.resource_id)? {
        Some(stay) => Finding::compare(change.version.as_deref(), &state(&stay)),
        None => Finding::Mismatch("the stay is not in the map".into()),
    })
}

/// Removes a stay that is still as the admission left it.
fn cancel(_: Admission, admitted: Kept, key: &str) -> Result<Output<()>, Error> {
    let unchanged = read(key)?.filter(|stay| stay.ended.is_none() && state(stay) == admitted.state);
    if unchanged.is_none() || !kv::delete(key)? {
        return Err(Error::policy_denied("the stay was changed or removed after the admission"));
    }
    Ok(Output::new(()).change(Change::new("stay", key, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Kennel.Admit", admit)
            .describe("Admits an animal to the kennel.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(2 * 86_400))
            .verify(verify)
            .compensate(cancel),
        tool::operator("Kennel.Discharge", discharge)
            .describe("Ends the stay of an animal.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(2 * 86_400))
            .verify(verify),
    ],
    exports: [verify, compensate],
}
