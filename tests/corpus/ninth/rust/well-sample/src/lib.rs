//! Files the water sample of a well with the time of its arrival, in one file for each call. A repetition keeps the file
//! of the first try, and its time. The files are kept for a year.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sample {
    well: String,
    depth_cm: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filed {
    file: String,
    at: String,
}

/// Path of the file of a call. A key has no dot.
fn path(key: &str) -> String {
    format!("/samples/{}.txt", key.replace([':', '/'], "."))
}

/// Content of the file. The first line is the time of arrival.
fn text(sample: &Sample, at: &str) -> String {
    format!("{at}\nwell {}, {} cm\n", sample.well, sample.depth_cm)
}

fn filed(sample: &Sample, key: &str, at: String) -> Output<Filed> {
    let file = path(key);
    let change = Change::new("sample", key, "create").version(text(sample, &at)).external_ref(&file);
    Output::new(Filed { file, at }).change(change)
}

/// Reads when the sample of a call arrived.
fn arrival(key: &str) -> Result<Option<String>, Error> {
    match fs::read_to_string(&path(key)) {
        Ok(text) => Ok(Some(text.lines().next().unwrap_or_default().to_owned())),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn file(sample: Sample, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if sample.well.trim().is_empty() {
        return Err(Error::invalid_input("the well has no name"));
    }
    let key = context.external_key();
    if let Some(at) = arrival(key)? {
        return Ok(filed(&sample, key, at));
    }
    let now = wall::now().to_string();
    match fs::publish(&path(key), text(&sample, &now).as_bytes(), key) {
        Ok(()) => Ok(filed(&sample, key, now)),
        // An earlier try was faster. Its file stays.
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => {
            let at = arrival(key).map_err(Error::applied_unknown)?;
            at.map(|at| filed(&sample, key, at)).ok_or_else(|| Error::from(error).applied_unknown())
        }
        Err(error) => Err(error.into()),
    }
}

fn find(sample: Sample, key: &str) -> Result<Verdict<Output<Filed>>, Error> {
    Ok(arrival(key)?.map_or(Verdict::DidNotHappen, |at| Verdict::Happened(filed(&sample, key, at))))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    match fs::read(change.external_ref.as_deref().unwrap_or_default()) {
        Ok(found) => Ok(Finding::compare(change.version.as_deref(), &String::from_utf8_lossy(&found))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Finding::Mismatch("the sample is missing".into())),
        Err(error) => Err(error.into()),
    }
}

fn withdraw(sample: Sample, filed: Filed, key: &str) -> Result<Output<()>, Error> {
    match fs::read(&filed.file) {
        Ok(found) if found == text(&sample, &filed.at).as_bytes() => {}
        Ok(_) => return Err(Error::policy_denied("the sample was changed since")),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied("the sample is no longer there"));
        }
        Err(error) => return Err(error.into()),
    }
    fs::remove(&filed.file)?;
    Ok(Output::new(()).change(Change::new("sample", key, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sample.File", file)
            .describe("Files the water sample of a well.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(30 * 24 * 3600))
            .reconcile(find)
            .verify(verify)
            .compensate(withdraw),
    ],
    exports: [reconcile, verify, compensate],
}
