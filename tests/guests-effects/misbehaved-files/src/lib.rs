//! Tools that each ignore an error of a file, and correct tools that look similar.

use latchwork_guest::tool::{Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    item: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Done {
    item: String,
}

fn file(key: &str) -> String {
    format!("/out/{}", key.replace('/', "+"))
}

fn unknown(error: fs::Error) -> Error {
    Error::from(error).applied_unknown()
}

/// Writes a note and a line about it.
fn note(args: Args, key: &str, is_careful: bool) -> Result<Output<Done>, Error> {
    let note = file(key);
    fs::publish(&note, args.item.as_bytes(), "note").map_err(unknown)?;
    let line = fs::publish(&format!("{note}.line"), b"noted", "line");
    if is_careful {
        line.map_err(unknown)?;
    }
    Ok(Output::new(Done { item: args.item }))
}

/// Writes a note whose change names its file.
fn keep(args: Args, key: &str) -> Result<Output<Done>, Error> {
    fs::publish(&file(key), args.item.as_bytes(), "note").map_err(unknown)?;
    let change = Change::new("note", file(key), "create");
    Ok(Output::new(Done { item: args.item }).change(change))
}

/// Looks for the note of a call.
fn find(args: Args, key: &str, is_careful: bool) -> Result<Verdict<Output<Done>>, Error> {
    match fs::read(&file(key)) {
        Ok(_) => keep_output(args, key),
        Err(error) if is_careful && error.kind() != fs::ErrorKind::NotFound => Err(error.into()),
        Err(_) => Ok(Verdict::DidNotHappen),
    }
}

fn keep_output(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    let change = Change::new("note", file(key), "create");
    Ok(Verdict::Happened(Output::new(Done { item: args.item }).change(change)))
}

/// Looks for the file of a change.
fn see(change: &Change, is_careful: bool) -> Result<Finding, Error> {
    match fs::exists(&change.resource_id) {
        Ok(true) => Ok(Finding::Confirmed),
        Err(error) if is_careful => Err(error.into()),
        _ => Ok(Finding::Mismatch("the note is missing".to_owned())),
    }
}

/// Removes the note of a call.
fn take_back(key: &str, is_careful: bool) -> Result<Output<()>, Error> {
    if !fs::exists(&file(key))? {
        return Err(Error::policy_denied("the note is no longer there"));
    }
    let removed = fs::remove(&file(key));
    if is_careful {
        removed.map_err(unknown)?;
    }
    Ok(Output::new(()))
}

macro_rules! writes {
    ($name:literal, |$args:ident, $key:ident| $call:expr) => {
        tool::operator($name, |$args: Args, context: &tool::Context| {
            let $key = context.external_key();
            $call
        })
        .describe("Writes files.")
        .effects([Effect::InternalWrite])
    };
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        writes!("Bad.Note", |args, key| note(args, key, false)),
        writes!("Good.Note", |args, key| note(args, key, true)),
        writes!("Bad.Find", |args, key| keep(args, key)).verify(|change: &Change| see(change, true)).reconcile(|args: Args, key: &str| find(args, key, false)),
        writes!("Good.Find", |args, key| keep(args, key)).verify(|change: &Change| see(change, true)).reconcile(|args: Args, key: &str| find(args, key, true)),
        writes!("Bad.See", |args, key| keep(args, key)).verify(|change: &Change| see(change, false)),
        writes!("Good.See", |args, key| keep(args, key)).verify(|change: &Change| see(change, true)),
        writes!("Bad.TakeBack", |args, key| keep(args, key)).verify(|change: &Change| see(change, true)).compensate(|_, _: Done, key: &str| take_back(key, false)),
        writes!("Good.TakeBack", |args, key| keep(args, key)).verify(|change: &Change| see(change, true)).compensate(|_, _: Done, key: &str| take_back(key, true)),
    ],
    exports: [compensate, reconcile, verify],
}
