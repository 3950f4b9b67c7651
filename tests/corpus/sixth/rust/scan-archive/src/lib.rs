//! Archives the text of a scanned page as a file that is named by the key of the call.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Scan {
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Archived {
    file: String,
    bytes: usize,
}

fn path(key: &str) -> String {
    let name: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("/archive/{name}.txt")
}

fn archived(key: &str, scan: &Scan) -> Output<Archived> {
    let bytes = scan.text.len();
    let change = Change::new("scan", path(key), "create").version(bytes.to_string());
    Output::new(Archived { file: path(key), bytes }).change(change)
}

fn archive(scan: Scan, context: &tool::Context) -> Result<Output<Archived>, Error> {
    if scan.text.trim().is_empty() {
        return Err(Error::invalid_input("the page is empty"));
    }
    let key = context.external_key();
    // A page is written once and never replaced.
    fs::create_new(&path(key), scan.text.as_bytes())?;
    Ok(archived(key, &scan))
}

fn find(scan: Scan, key: &str) -> Result<Verdict<Output<Archived>>, Error> {
    Ok(if fs::exists(&path(key))? { Verdict::Happened(archived(key, &scan)) } else { Verdict::DidNotHappen })
}

fn check(change: &Change) -> Result<Finding, Error> {
    if !fs::exists(&change.resource_id)? {
        return Ok(Finding::Mismatch("the page is missing".into()));
    }
    Ok(Finding::compare(change.version.as_deref(), &fs::read(&change.resource_id)?.len().to_string()))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Scan.Archive", archive)
            .describe("Archives the text of a page.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(check),
    ],
    exports: [reconcile, verify],
}
