//! `Curve.Set`: sets the heating curve of a house.
//!
//! A house is a folder of numbered revisions. The heating controller reads the newest one, and shows its note.

use latchwork_guest::tool::{Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name of the house: letters, digits and `-`.
    house: String,
    curve: Curve,
    /// Note for the caretaker. Without it, the present note stays.
    #[serde(default)]
    note: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Curve {
    /// Flow temperature at 0 degrees outside, in tenths of a degree.
    base: u32,
    /// Rise for each degree of frost, in hundredths of a degree.
    slope: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Revision {
    /// Key of the call that added the revision.
    key: String,
    /// Curve of the house. Without it, the controller uses its own.
    curve: Option<Curve>,
    #[serde(default)]
    note: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Set {
    house: String,
    revision: usize,
}

fn folder(house: &str) -> Result<String, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if house.is_empty() || house.len() > 40 || !house.chars().all(plain) {
        return Err(Error::invalid_input(format!("{house:?} does not name a house")));
    }
    Ok(format!("/curves/{house}"))
}

/// Returns the revisions of a house, the oldest first. Revision 1 has index 0.
fn revisions(folder: &str) -> Result<Vec<Revision>, Error> {
    let entries = match fs::list(folder) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.name.starts_with('.')) {
        let text = fs::read(&format!("{folder}/{}", entry.name))?;
        let revision = serde_json::from_slice(&text);
        found.push(revision.map_err(|error| Error::dependency_unavailable(error.to_string()).not_applied())?);
    }
    Ok(found)
}

/// Adds a revision. Returns false if another writer has added this one.
fn add(folder: &str, number: usize, revision: &Revision) -> Result<bool, Error> {
    let text = serde_json::to_vec(revision).map_err(|error| Error::invalid_input(error.to_string()))?;
    match fs::publish(&format!("{folder}/{number:06}.json"), &text, &revision.key) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn output(house: String, revision: usize, operation: &str) -> Output<Set> {
    let change = Change::new("curve", &house, operation).version(revision.to_string());
    Output::new(Set { house, revision }).change(change)
}

fn set(args: Args, context: &tool::Context) -> Result<Output<Set>, Error> {
    let folder = folder(&args.house)?;
    if !(200..=700).contains(&args.curve.base) || args.curve.slope > 300 {
        return Err(Error::invalid_input("the base or the slope is out of range"));
    }
    fs::create_dir(&folder).map_err(|error| Error::from(error).not_applied())?;
    // Another writer may add the same revision first.
    for _ in 0..20 {
        let known = revisions(&folder)?;
        let present = known.last().map(|last| last.note.clone());
        let next = Revision {
            key: context.external_key().to_owned(),
            curve: Some(args.curve.clone()),
            note: args.note.clone().or(present).unwrap_or_default(),
        };
        if add(&folder, known.len() + 1, &next)? {
            return Ok(output(args.house, known.len() + 1, "update"));
        }
    }
    Err(Error::transient_db_lock("the house changes too often"))
}

fn reconcile(args: Args, key: &str) -> Result<Verdict<Output<Set>>, Error> {
    let known = revisions(&folder(&args.house)?)?;
    Ok(match known.iter().position(|revision| revision.key == key) {
        Some(index) => Verdict::Happened(output(args.house, index + 1, "update")),
        None => Verdict::DidNotHappen,
    })
}

/// Adds a revision with the curve from before the call.
fn compensate(args: Args, done: Set, key: &str) -> Result<Output<Set>, Error> {
    let folder = folder(&args.house)?;
    let known = revisions(&folder)?;
    let Some(made) = known.last().filter(|last| last.key == key && known.len() == done.revision) else {
        return Err(Error::policy_denied(format!("house {} has a newer curve", args.house)));
    };
    let before = known.iter().rev().nth(1).and_then(|revision| revision.curve.clone());
    let undone = Revision { key: format!("{key}~undo"), curve: before, ..made.clone() };
    if !add(&folder, known.len() + 1, &undone)? {
        return Err(Error::policy_denied(format!("house {} got a newer curve", args.house)));
    }
    Ok(output(args.house, known.len() + 1, "revert"))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Curve.Set", set)
            .describe("Sets the heating curve of a house.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .compensate(compensate),
    ],
    exports: [reconcile, compensate],
}
