//! Licences of a quarry in the map of the plugin. Long conditions are kept in parts, since a value of the map has at
//! most 64 KiB. The head of a licence is written last: without a head no reader sees the parts.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, kv, log, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PART_BYTES: usize = 60_000;
const PARTS_MOST: usize = 40;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Licence {
    holder: String,
    conditions: String,
}

/// Head of a licence, and the result of its issue.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Issued {
    licence: String,
    issued_at: String,
    holder: String,
    parts: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    licence: String,
}

#[derive(Serialize, JsonSchema)]
struct Text {
    holder: String,
    conditions: String,
}

fn head_key(key: &str) -> String {
    format!("head {key}")
}

fn part_key(key: &str, part: usize) -> String {
    format!("part {part} {key}")
}

fn parts(mut text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let end = (0..=text.len().min(PART_BYTES)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
        let (part, rest) = text.split_at(end);
        parts.push(part);
        text = rest;
    }
    parts
}

fn head(key: &str) -> Result<Option<Issued>, Error> {
    let Some(bytes) = kv::get(&head_key(key))? else { return Ok(None) };
    // An unreadable head is no proof of a missing licence.
    serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::schema_validation_failed(format!("{key}: {error}")))
}

fn output(issued: Issued) -> Output<Issued> {
    let receipt = json!({ "licence": issued.licence, "issued_at": issued.issued_at });
    let change = Change::new("licence", &issued.licence, "create").version(&issued.issued_at);
    Output::new(issued).receipt(receipt).change(change)
}

fn issue(licence: Licence, context: &tool::Context) -> Result<Output<Issued>, Error> {
    let key = context.external_key();
    if licence.holder.trim().is_empty() || licence.holder.len() > 200 {
        return Err(Error::invalid_input("the holder has 1 to 200 bytes"));
    }
    let parts = parts(&licence.conditions);
    if parts.is_empty() || parts.len() > PARTS_MOST {
        return Err(Error::invalid_input("the conditions are empty or too long"));
    }
    if context.tries_before() > 0 {
        log::info!("try {} of {}", context.tries_before() + 1, context.slot());
    }
    for (at, part) in parts.iter().enumerate() {
        kv::set(&part_key(key, at), part.as_bytes()).map_err(|error| match at {
            0 => error,
            _ => error.applied_unknown(),
        })?;
    }
    // The time of this try: an earlier try, if any, issued nothing, or the host would not execute this one.
    let issued = Issued {
        licence: key.to_owned(),
        issued_at: wall::now().to_string(),
        holder: licence.holder,
        parts: parts.len(),
    };
    let text = json!(issued).to_string();
    kv::set(&head_key(key), text.as_bytes()).map_err(Error::applied_unknown)?;
    Ok(output(issued))
}

/// Parts without a head are no licence, and the next try writes them again.
fn find(_: Licence, key: &str) -> Result<Verdict<Output<Issued>>, Error> {
    Ok(match head(key)? {
        Some(issued) => Verdict::Happened(output(issued)),
        None => Verdict::DidNotHappen,
    })
}

fn revoke(_: Licence, issued: Issued, key: &str) -> Result<Output<()>, Error> {
    if !kv::delete(&head_key(key))? {
        return Err(Error::policy_denied("the licence is no longer in the register"));
    }
    for part in 0..issued.parts {
        if !kv::delete(&part_key(key, part)).map_err(Error::applied_unknown)? {
            return Err(Error::policy_denied(format!("part {part} was missing")).applied_unknown());
        }
    }
    Ok(Output::new(()).change(Change::new("licence", key, "delete")))
}

fn text(which: Which, _: &tool::Context) -> Result<Output<Text>, Error> {
    let Some(issued) = head(&which.licence)? else { return Err(Error::invalid_input("there is no such licence")) };
    let mut conditions = Vec::new();
    for part in 0..issued.parts {
        let missing = || Error::dependency_unavailable("the licence is being revoked");
        conditions.extend(kv::get(&part_key(&which.licence, part))?.ok_or_else(missing)?);
    }
    let conditions = String::from_utf8_lossy(&conditions).into_owned();
    Ok(Output::new(Text { holder: issued.holder, conditions }))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Licence.Issue", issue)
            .describe("Issues a licence of a quarry with its conditions.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .compensate(revoke),
        tool::operator("Licence.Text", text).describe("Returns holder and conditions of a licence."),
    ],
    exports: [reconcile, compensate],
}
