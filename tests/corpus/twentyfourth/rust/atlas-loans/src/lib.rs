//! Records the loans of old atlases in the folder of a map library.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const FOLDER: &str = "/loans";
/// First second of the year 2100. No loan lasts that long.
const LATEST: i64 = 4_102_444_800;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lending {
    /// Shelf mark of the atlas.
    atlas: String,
    reader: String,
    /// Last day of the loan, in seconds since 1970.
    until: i64,
}

/// A loan, as the reading room finds it in the folder.
#[derive(Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
struct Loan {
    loan: String,
    atlas: String,
    reader: String,
    until: i64,
    lent_at: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Return {
    /// Name of the loan.
    loan: String,
}

/// Name of the loan of a call. A key has neither dots nor commas.
fn name(key: &str) -> String {
    key.replace(':', ".").replace('/', ",")
}

fn open(loan: &str) -> String {
    format!("{FOLDER}/{loan}.json")
}

fn closed(loan: &str) -> String {
    format!("{FOLDER}/{loan}.closed")
}

/// Reads a file, if it exists.
fn read(path: &str) -> Result<Option<Loan>, Error> {
    match fs::read(path) {
        Ok(content) => serde_json::from_slice(&content)
            .map(Some)
            .map_err(|error| Error::schema_validation_failed(format!("{path}: {error}")).not_applied()),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::from(error).not_applied()),
    }
}

/// Finds a loan, also one that was closed. Closing renames the file, so a loan that is not open any more is closed.
fn find(loan: &str) -> Result<Option<Loan>, Error> {
    match read(&open(loan))? {
        Some(found) => Ok(Some(found)),
        None => read(&closed(loan)),
    }
}

fn lent(loan: Loan) -> Output<Loan> {
    let change = Change::new("loan", &loan.loan, "create").version("open").external_ref(open(&loan.loan));
    Output::new(loan).change(change)
}

fn lend(lending: Lending, context: &tool::Context) -> Result<Output<Loan>, Error> {
    let key = context.external_key();
    let name = name(key);
    if let Some(loan) = find(&name)? {
        return Ok(lent(loan));
    }
    if lending.atlas.trim().is_empty() || lending.reader.trim().is_empty() {
        return Err(Error::invalid_input("a loan has an atlas and a reader"));
    }
    if lending.until >= LATEST {
        return Err(Error::invalid_input("the loan would never end"));
    }
    let now = wall::now();
    if lending.until <= now.seconds {
        return Err(Error::invalid_input("the loan would be over already"));
    }
    let Lending { atlas, reader, until } = lending;
    let loan = Loan { loan: name, atlas, reader, until, lent_at: now.to_string() };
    let content = serde_json::to_vec(&loan).map_err(|error| Error::invalid_input(error.to_string()))?;
    fs::replace(&open(&loan.loan), &content, key)?;
    Ok(lent(loan))
}

fn reconcile_lend(_: Lending, key: &str) -> Result<Verdict<Output<Loan>>, Error> {
    Ok(find(&name(key))?.map_or(Verdict::DidNotHappen, |loan| Verdict::Happened(lent(loan))))
}

/// Removes the record of a loan that is still open.
fn forget(_: Lending, loan: Loan, _: &str) -> Result<Output<()>, Error> {
    let is_closed = || Error::policy_denied("the loan is closed already");
    let found = read(&open(&loan.loan))?.ok_or_else(is_closed)?;
    if found != loan {
        return Err(Error::policy_denied("the loan was changed since"));
    }
    fs::remove(&open(&loan.loan)).map_err(|error| match error.kind() {
        fs::ErrorKind::NotFound => is_closed(),
        _ => Error::from(error).applied_unknown(),
    })?;
    Ok(Output::new(()).change(Change::new("loan", &loan.loan, "delete")))
}

/// Closes a loan. The closed record stays in the folder for the yearly report.
fn close(input: Return, _: &tool::Context) -> Result<Output<Loan>, Error> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-~.,".contains(c);
    if input.loan.is_empty() || input.loan.len() > 140 || !input.loan.chars().all(is_name) {
        return Err(Error::invalid_input(format!("{:?} is no loan", input.loan)));
    }
    let is_not_open = || Error::policy_denied("the loan is not open");
    let loan = read(&open(&input.loan))?.ok_or_else(is_not_open)?;
    fs::rename(&open(&input.loan), &closed(&input.loan)).map_err(|error| match error.kind() {
        fs::ErrorKind::NotFound => is_not_open(),
        _ => Error::from(error).applied_unknown(),
    })?;
    let change = Change::new("loan", &input.loan, "update").version("closed").external_ref(closed(&input.loan));
    Ok(Output::new(loan).change(change))
}

/// Compares the state of a loan with the recorded one.
fn verify(change: &Change) -> Result<Finding, Error> {
    let state = if read(&open(&change.resource_id))?.is_some() {
        "open"
    } else if read(&closed(&change.resource_id))?.is_some() {
        "closed"
    } else {
        "missing"
    };
    Ok(Finding::compare(change.version.as_deref(), state))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Atlas.Lend", lend)
            .describe("Records the loan of an atlas.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 24 * 3600))
            .reconcile(reconcile_lend)
            .verify(verify)
            .compensate(forget),
        tool::operator("Atlas.Close", close)
            .describe("Closes the loan of an atlas that came back.")
            .effects([Effect::InternalWrite])
            .verify(verify),
    ],
    exports: [reconcile, verify, compensate],
}
