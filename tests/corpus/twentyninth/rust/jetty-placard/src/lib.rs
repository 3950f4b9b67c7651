//! Sets the text of a placard on a jetty. Displays read the files of a shared folder.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest text that a display shows.
const TEXT_BYTES_MAX: usize = 4096;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Placard {
    /// Name of the jetty, such as `north-2`.
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{0,39}$"))]
    jetty: String,
    #[schemars(length(min = 1, max = 1000))]
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    file: String,
    /// Text that the placard had before, if it had one.
    previous: Option<String>,
}

fn file(jetty: &str) -> String {
    format!("/placards/{jetty}.txt")
}

/// Text on the placard, or `None` if the jetty has no placard.
fn read(file: &str) -> Result<Option<String>, Error> {
    match fs::read_up_to(file, TEXT_BYTES_MAX) {
        Ok(content) => String::from_utf8(content)
            .map(Some)
            .map_err(|_| Error::policy_denied(format!("{file} is no text, and would be lost"))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn set(placard: Placard, context: &tool::Context) -> Result<Output<Shown>, Error> {
    if placard.text.trim().is_empty() {
        return Err(Error::invalid_input("the text is blank"));
    }
    let file = file(&placard.jetty);
    // The old text goes into the result, for an undo. A placard that cannot be read is not replaced.
    let previous = read(&file)?;
    // One atomic write with content from the arguments alone: writing it once more changes nothing.
    fs::replace(&file, placard.text.as_bytes(), context.external_key())?;
    let change = Change::new("placard", &placard.jetty, "update").version(&placard.text).external_ref(&file);
    Ok(Output::new(Shown { file, previous }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&file(&change.resource_id))? {
        Some(text) => Finding::compare(change.version.as_deref(), &text),
        None => Finding::Mismatch("the placard is missing".into()),
    })
}

/// Puts the old text back, unless someone has changed the placard since.
fn put_back(placard: Placard, shown: Shown, key: &str) -> Result<Output<()>, Error> {
    match read(&shown.file)? {
        None => return Err(Error::policy_denied("the placard is no longer there")),
        Some(text) if text != placard.text => {
            return Err(Error::policy_denied("the placard was changed after it was set"));
        }
        Some(_) => {}
    }
    let change = match &shown.previous {
        Some(previous) => {
            fs::replace(&shown.file, previous.as_bytes(), key)?;
            Change::new("placard", &placard.jetty, "update").version(previous)
        }
        None => {
            fs::remove(&shown.file)?;
            Change::new("placard", &placard.jetty, "delete")
        }
    };
    Ok(Output::new(()).change(change.external_ref(&shown.file)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Placard.Set", set)
            .describe("Sets the text of the placard on a jetty.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(6 * 3600))
            .verify(verify)
            .compensate(put_back),
    ],
    exports: [verify, compensate],
}
