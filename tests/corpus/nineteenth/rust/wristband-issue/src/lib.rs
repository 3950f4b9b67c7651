//! `Wristband.Issue`: issues the wristband of a festival guest, with a code for the gate.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Letters and digits of a code. None of them looks like another one.
const SIGNS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Number of signs of a code.
const CODE: usize = 10;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Guest {
    name: String,
    /// Day of the festival, from 1 to 4.
    day: u8,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
struct Band {
    name: String,
    day: u8,
    code: String,
    issued_at: String,
}

fn issue(guest: Guest, context: &tool::Context) -> Result<Output<Band>, Error> {
    let name = guest.name.trim();
    if name.is_empty() || name.len() > 200 {
        return Err(Error::invalid_input("the name of a guest has 1 to 200 bytes"));
    }
    if !(1..=4).contains(&guest.day) {
        return Err(Error::invalid_input(format!("the festival has four days, and no day {}", guest.day)));
    }
    let key = context.external_key();
    if let Some(band) = find(key)? {
        return Ok(issued(band, key));
    }
    let band = Band { name: name.to_owned(), day: guest.day, code: code(), issued_at: wall::now().to_string() };
    let text = serde_json::to_vec(&band).map_err(|error| Error::invalid_input(error.to_string()))?;
    match fs::publish(&file(key), &text, key) {
        Ok(()) => Ok(issued(band, key)),
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => match find(key) {
            Ok(Some(band)) => Ok(issued(band, key)),
            Ok(None) => Err(Error::from(error)),
            Err(error) => Err(error.applied_unknown()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Looks for the wristband of a call.
fn reconcile(_: Guest, key: &str) -> Result<Verdict<Output<Band>>, Error> {
    Ok(match find(key)? {
        Some(band) => Verdict::Happened(issued(band, key)),
        None => Verdict::DidNotHappen,
    })
}

/// Checks that the gate still opens for the code.
fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(&change.resource_id)? {
        Some(band) => Finding::compare(change.version.as_deref(), &band.code),
        None => Finding::Mismatch("the wristband does not exist any more".into()),
    })
}

/// Takes a wristband back.
fn compensate(_: Guest, done: Band, key: &str) -> Result<Output<()>, Error> {
    match find(key)? {
        Some(band) if band == done => {}
        Some(_) => {
            return Err(Error::policy_denied(format!("the wristband of {} was changed since", done.name)));
        }
        None => {
            return Err(Error::policy_denied(format!("the wristband of {} does not exist any more", done.name)));
        }
    }
    fs::remove(&file(key))?;
    Ok(Output::new(()).change(Change::new("wristband", key, "delete")))
}

/// Reads the wristband of a key, if there is one.
fn find(key: &str) -> Result<Option<Band>, Error> {
    let text = match fs::read(&file(key)) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    match serde_json::from_slice(&text) {
        Ok(band) => Ok(Some(band)),
        Err(error) => Err(Error::schema_validation_failed(format!("the wristband cannot be read: {error}"))),
    }
}

fn issued(band: Band, key: &str) -> Output<Band> {
    let change = Change::new("wristband", key, "create").version(&band.code).external_ref(file(key));
    let receipt = serde_json::json!({ "code": band.code });
    Output::new(band).receipt(receipt).change(change)
}

fn file(key: &str) -> String {
    format!("/bands/{}.json", key.replace(':', "=").replace('/', "+"))
}

fn code() -> String {
    wall::random(CODE).iter().map(|byte| char::from(SIGNS[usize::from(byte % 32)])).collect()
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Wristband.Issue", issue)
            .describe("Issues the wristband of a festival guest, with a code for the gate.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(DAY)
            .reconcile(reconcile)
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [reconcile, verify, compensate],
}
