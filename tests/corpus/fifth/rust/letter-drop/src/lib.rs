//! Puts a letter into the tray of a printer. The name of its file is that of the call, and its content follows from the
//! arguments: a repetition finds the file and leaves it as it is.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Letter {
    to: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Dropped {
    file: String,
}

fn file(key: &str) -> String {
    format!("/tray/{}.txt", key.replace([':', '/'], "+"))
}

fn content(letter: &Letter) -> String {
    format!("To: {}\n\n{}\n", letter.to.replace(['\r', '\n'], " "), letter.text)
}

fn drop_letter(letter: Letter, context: &tool::Context) -> Result<Output<Dropped>, Error> {
    if letter.to.trim().is_empty() {
        return Err(Error::invalid_input("the letter has no recipient"));
    }
    let (key, content) = (context.external_key(), content(&letter));
    match fs::publish(&file(key), content.as_bytes(), key) {
        // An earlier try of this call has published the file.
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => {
            let found = fs::read(&file(key)).map_err(|error| Error::from(error).applied_unknown())?;
            if found != content.as_bytes() {
                return Err(Error::policy_denied("the letter was changed since").applied_unknown());
            }
        }
        published => published?,
    }
    Ok(dropped(key, content))
}

/// Called after a crash: finds out whether the letter is in the tray.
fn find(letter: Letter, key: &str) -> Result<Verdict<Output<Dropped>>, Error> {
    Ok(match read(&file(key))? {
        None => Verdict::DidNotHappen,
        Some(found) if found == content(&letter).as_bytes() => Verdict::Happened(dropped(key, content(&letter))),
        Some(_) => Verdict::Unknown,
    })
}

/// Called when a job is resumed: checks whether the letter is still in the tray.
fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&change.resource_id)? {
        None => Finding::Mismatch("the letter is missing".into()),
        Some(found) => Finding::compare(change.version.as_deref(), &String::from_utf8_lossy(&found)),
    })
}

/// Called when the job is cancelled or undone: a printer removes the letters that it has printed.
fn take_back(letter: Letter, _: Dropped, key: &str) -> Result<Output<()>, Error> {
    let file = file(key);
    if read(&file)?.as_deref() != Some(content(&letter).as_bytes()) {
        return Err(Error::policy_denied("the letter was changed or printed"));
    }
    fs::remove(&file)?;
    Ok(Output::new(()).change(Change::new("letter", &file, "delete")))
}

/// Reads a file that may be missing.
fn read(file: &str) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(file) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?)),
    }
}

fn dropped(key: &str, content: String) -> Output<Dropped> {
    let file = file(key);
    let change = Change::new("letter", &file, "create").version(content);
    Output::new(Dropped { file }).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Letter.Drop", drop_letter)
            .describe("Puts a letter into the tray of a printer.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400))
            .reconcile(find)
            .verify(verify)
            .compensate(take_back),
    ],
    exports: [reconcile, verify, compensate],
}
