//! `Easel.Hold`: holds an easel of a studio for a painter on one day.
//!
//! Each hold is a file that is named by easel and day, and has the key of its call.

use latchwork_guest::tool::{Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Number of the easel, from 1 to 40.
    easel: u32,
    /// Day of the hold: `2026-03-09`.
    day: String,
    painter: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Held {
    easel: u32,
    day: String,
}

/// Content of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Hold {
    painter: String,
    key: String,
}

/// Returns the name of a hold.
fn name(easel: u32, day: &str) -> Result<String, Error> {
    let plain = |(index, byte): (usize, u8)| {
        if matches!(index, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
    };
    if day.len() != 10 || !day.bytes().enumerate().all(plain) {
        return Err(Error::invalid_input(format!("{day:?} is no day")));
    }
    if !(1..=40).contains(&easel) {
        return Err(Error::invalid_input(format!("the studio has no easel {easel}")));
    }
    Ok(format!("{easel}.{day}"))
}

fn path(name: &str) -> String {
    format!("/holds/{name}.json")
}

/// Returns the hold of a name, or nothing if the easel is free.
fn find(name: &str) -> Result<Option<Hold>, Error> {
    let bytes = match fs::read(&path(name)) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let damaged = |error| Error::dependency_unavailable(format!("{}: {error}", path(name))).not_applied();
    serde_json::from_slice(&bytes).map(Some).map_err(damaged)
}

fn held(args: Args, name: &str, key: &str) -> Output<Held> {
    let change = Change::new("hold", name, "create").version(key);
    Output::new(Held { easel: args.easel, day: args.day }).change(change)
}

fn hold(args: Args, context: &tool::Context) -> Result<Output<Held>, Error> {
    let name = name(args.easel, &args.day)?;
    if args.painter.trim().is_empty() || args.painter.len() > 200 {
        return Err(Error::invalid_input("the name of a painter has 1 to 200 bytes"));
    }
    let key = context.external_key();
    let hold = Hold { painter: args.painter.clone(), key: key.to_owned() };
    let text = serde_json::to_vec(&hold).map_err(|error| Error::invalid_input(error.to_string()))?;
    match fs::publish(&path(&name), &text, key) {
        Ok(()) => Ok(held(args, &name, key)),
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => {
            match find(&name).map_err(Error::applied_unknown)? {
                Some(found) if found.key == key => Ok(held(args, &name, key)),
                Some(_) => Err(Error::policy_denied(format!("easel {} is held on {}", args.easel, args.day))),
                None => Err(Error::transient_db_lock(format!("easel {} was just released", args.easel))),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn reconcile(args: Args, key: &str) -> Result<Verdict<Output<Held>>, Error> {
    let name = name(args.easel, &args.day)?;
    Ok(match find(&name)? {
        Some(found) if found.key == key => Verdict::Happened(held(args, &name, key)),
        _ => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(&change.resource_id)? {
        Some(found) => Finding::compare(change.version.as_deref(), &found.key),
        None => Finding::Mismatch("the easel is free".into()),
    })
}

fn compensate(_: Args, held: Held, key: &str) -> Result<Output<()>, Error> {
    let name = name(held.easel, &held.day)?;
    match find(&name)? {
        Some(found) if found.key == key => {}
        _ => {
            return Err(Error::policy_denied(format!("easel {} is not held by this call any more", held.easel)));
        }
    }
    fs::remove(&path(&name))?;
    Ok(Output::new(()).change(Change::new("hold", name, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Easel.Hold", hold)
            .describe("Holds an easel of a studio for a painter on one day.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [reconcile, verify, compensate],
}
