//! Writes pages of a ship's log, each with the time of its entry and a random seal.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Entry {
    text: String,
}

/// A page, as it is in its file and in the result.
#[derive(Serialize, Deserialize, PartialEq, JsonSchema)]
struct Page {
    text: String,
    at: String,
    seal: String,
}

/// The external key has no dot.
fn file(key: &str) -> String {
    format!("/log/{}.json", key.replace([':', '/'], "."))
}

/// Reads a page. A file that is not there is no page.
fn read(path: &str) -> Result<Option<Page>, Error> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::policy_denied(format!("{path} is no page: {error}"))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn write(entry: Entry, context: &tool::Context) -> Result<Output<Page>, Error> {
    if entry.text.trim().is_empty() {
        return Err(Error::invalid_input("the entry is empty"));
    }
    let seal = wall::random(8).iter().map(|byte| format!("{byte:02x}")).collect();
    let page = Page { text: entry.text, at: wall::now().to_string(), seal };
    let content = serde_json::to_vec(&page).map_err(|error| Error::invalid_input(error.to_string()))?;
    let key = context.external_key();
    fs::replace(&file(key), &content, key)?;
    Ok(written(page, key))
}

fn written(page: Page, key: &str) -> Output<Page> {
    let change = Change::new("page", file(key), "create").version(&page.seal);
    Output::new(page).change(change)
}

/// The host repeats the call only if there is no page, so a page is the one that its first try wrote.
fn reconcile(_: Entry, key: &str) -> Result<Verdict<Output<Page>>, Error> {
    Ok(read(&file(key))?.map_or(Verdict::DidNotHappen, |page| Verdict::Happened(written(page, key))))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&change.resource_id)? {
        Some(page) => Finding::compare(change.version.as_deref(), &page.seal),
        None => Finding::Mismatch("the page is missing".into()),
    })
}

fn tear_out(_: Entry, page: Page, key: &str) -> Result<Output<()>, Error> {
    let path = file(key);
    match read(&path)? {
        Some(found) if found == page => fs::remove(&path)?,
        Some(_) => return Err(Error::policy_denied("the page was changed after it was written")),
        None => return Err(Error::policy_denied("the page is no longer there")),
    }
    Ok(Output::new(()).change(Change::new("page", path, "delete")))
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Logbook.Write", write)
            .describe("Writes a page of the log.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .verify(verify)
            .compensate(tear_out),
    ],
    exports: [reconcile, verify, compensate],
}
