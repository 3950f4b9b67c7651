//! Files the survey of a reef: one file for each call.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Survey {
    reef: String,
    diver: String,
    /// Living coral, in percent of the area.
    coral: u8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filed {
    file: String,
}

/// Path of the file of a call. A file name has no `:` and no `/`, so both become `_`.
fn path(key: &str) -> String {
    format!("/surveys/{}.txt", key.replace([':', '/'], "_"))
}

fn text(survey: &Survey) -> String {
    format!("reef: {}\ndiver: {}\nliving coral: {} %\n", survey.reef, survey.diver, survey.coral)
}

fn filed(survey: &Survey, key: &str) -> Output<Filed> {
    let file = path(key);
    let change = Change::new("survey", key, "create").version(text(survey)).external_ref(&file);
    Output::new(Filed { file }).change(change)
}

fn file(survey: Survey, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if survey.reef.trim().is_empty() || survey.coral > 100 {
        return Err(Error::invalid_input("a survey has a reef, and 0 to 100 % of coral"));
    }
    let key = context.external_key();
    fs::replace(&path(key), text(&survey).as_bytes(), key)?;
    Ok(filed(&survey, key))
}

fn find(survey: Survey, key: &str) -> Result<Verdict<Output<Filed>>, Error> {
    Ok(if fs::exists(&path(key))? { Verdict::Happened(filed(&survey, key)) } else { Verdict::DidNotHappen })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    match fs::read(change.external_ref.as_deref().unwrap_or_default()) {
        Ok(found) => Ok(Finding::compare(change.version.as_deref(), &String::from_utf8_lossy(&found))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Finding::Mismatch("the survey is missing".into())),
        Err(error) => Err(error.into()),
    }
}

fn withdraw(survey: Survey, filed: Filed, key: &str) -> Result<Output<()>, Error> {
    // A survey that is no longer there is an error as well.
    if fs::read(&filed.file)? != text(&survey).as_bytes() {
        return Err(Error::policy_denied("the survey was changed since"));
    }
    fs::remove(&filed.file)?;
    Ok(Output::new(()).change(Change::new("survey", key, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Reef.File", file)
            .describe("Files the survey of a reef.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(verify)
            .compensate(withdraw),
    ],
    exports: [reconcile, verify, compensate],
}
