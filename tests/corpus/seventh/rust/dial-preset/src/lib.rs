//! Keeps the presets of the heating dials of a building.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, kv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Name of the dial: lower-case letters.
    dial: String,
    level: u8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Set {
    dial: String,
    level: u8,
}

/// The preset of a dial, with the call that has set it.
#[derive(Serialize, Deserialize)]
struct Preset {
    level: u8,
    by: String,
}

fn parse(bytes: &[u8]) -> Result<Preset, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::policy_denied(format!("no preset: {error}")))
}

fn set(args: Args, context: &tool::Context) -> Result<Output<Set>, Error> {
    if args.dial.is_empty() || args.dial.len() > 40 || !args.dial.bytes().all(|b| b.is_ascii_lowercase()) {
        return Err(Error::invalid_input("a dial has 1 to 40 lower-case letters"));
    }
    let key = context.external_key();
    let place = format!("dial/{}", args.dial);
    let earlier = kv::get(&place)?;
    // Remembers what was set before, for an undo.
    kv::set(&format!("earlier/{key}"), &earlier.unwrap_or_default())?;
    let preset = json!({ "level": args.level, "by": key }).to_string();
    kv::set(&place, preset.as_bytes()).map_err(Error::applied_unknown)?;
    let change = Change::new("dial", &args.dial, "update").version(key).external_ref(place);
    Ok(Output::new(Set { dial: args.dial, level: args.level }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    match kv::get(&format!("dial/{}", change.resource_id))? {
        Some(bytes) => Ok(Finding::compare(change.version.as_deref(), &parse(&bytes)?.by)),
        None => Ok(Finding::Mismatch("the dial has no preset".into())),
    }
}

fn reset(args: Args, _: Set, key: &str) -> Result<Output<()>, Error> {
    let place = format!("dial/{}", args.dial);
    let remembered = format!("earlier/{key}");
    let current = kv::get(&place)?.ok_or_else(|| Error::policy_denied("the dial has no preset any more"))?;
    if parse(&current)?.by != key {
        return Err(Error::policy_denied("the dial was set again since"));
    }
    match kv::get(&remembered)? {
        None => return Err(Error::policy_denied("the earlier preset is not known")),
        Some(earlier) if earlier.is_empty() => {
            if !kv::delete(&place)? {
                return Err(Error::policy_denied("the preset was deleted since"));
            }
        }
        Some(earlier) => kv::set(&place, &earlier)?,
    }
    kv::delete(&remembered).map_err(Error::applied_unknown)?;
    Ok(Output::new(()).change(Change::new("dial", &args.dial, "update").external_ref(place)))
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Dial.Set", set)
            .describe("Sets the preset of a heating dial.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 24 * 3600))
            .verify(verify)
            .compensate(reset),
    ],
    exports: [verify, compensate],
}
