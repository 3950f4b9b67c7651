//! Files the intake forms of a museum's conservation department.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time for which a form can be filed again under its key.
const WINDOW: Duration = Duration::from_secs(48 * 3600);

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Form {
    /// Inventory number of the object.
    #[schemars(regex(pattern = r"^[A-Z]{1,3}-[0-9]{1,6}$"))]
    object: String,
    #[schemars(length(min = 1, max = 80))]
    received_from: String,
    /// Damages that are visible at the intake.
    #[serde(default)]
    #[schemars(length(max = 30), inner(length(min = 1, max = 300)))]
    damages: Vec<String>,
    #[serde(default)]
    needs_quarantine: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filed {
    file: String,
    damages: usize,
}

/// Name of the form of a call. A key has neither a dot nor a plus.
fn name(key: &str) -> String {
    format!("{}.json", key.replace(':', ".").replace('/', "+"))
}

/// Start of the names of a day. The morning round prints the forms of one room and one day.
fn prefix(room: &str) -> String {
    let (year, month, day) = wall::now().date();
    format!("{room}-{year}-{month:02}-{day:02}")
}

fn file(form: Form, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if form.damages.iter().any(|damage| damage.trim().is_empty()) {
        return Err(Error::invalid_input("a damage has no text"));
    }
    let key = context.external_key();
    let room = if form.needs_quarantine { "quarantine" } else { "store" };
    let file = format!("/intake/{}-{}", prefix(room), name(key));
    let text = serde_json::to_string_pretty(&form)
        .map_err(|error| Error::invalid_input(format!("the form is not JSON: {error}")))?;
    // The same key names the same form, so a repeated call replaces its own form.
    fs::replace(&file, text.as_bytes(), key)?;
    let change = Change::new("form", key, "create").external_ref(&file);
    Ok(Output::new(Filed { file, damages: form.damages.len() }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let Some(file) = change.external_ref.as_deref() else {
        return Err(Error::missing_required_context("the change names no file"));
    };
    Ok(if fs::exists(file)? { Finding::Confirmed } else { Finding::Mismatch(format!("{file} is missing")) })
}

fn discard(form: Form, filed: Filed, key: &str) -> Result<Output<()>, Error> {
    let text = match fs::read_to_string(&filed.file) {
        Ok(text) => text,
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied("the form was taken out of the folder"));
        }
        Err(error) => return Err(error.into()),
    };
    if serde_json::to_string_pretty(&form).ok().as_deref() != Some(text.as_str()) {
        return Err(Error::policy_denied("the form was changed after it was filed"));
    }
    fs::remove(&filed.file)?;
    Ok(Output::new(()).change(Change::new("form", key, "delete").external_ref(&filed.file)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Intake.File", file)
            .describe("Files the intake form of an object.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW)
            .verify(verify)
            .compensate(discard),
    ],
    exports: [verify, compensate],
}
