//! `Scan.File`: files the text of a scanned court docket, one file for each call.

use std::time::Duration;

use latchwork_guest::tool::{Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Longest text of a docket, in bytes.
const TEXT_MAX: usize = 400_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Number of the docket, such as `12 C 345/26`.
    docket: String,
    /// Texts of the pages.
    pages: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Filed {
    /// Path of the file in the folder of scans.
    file: String,
    pages: usize,
}

/// Returns the path of the file of a call.
fn path(key: &str) -> String {
    format!("/scans/{}.json", key.replace([':', '/'], "_"))
}

/// Returns the content of the file.
fn content(args: &Args) -> Vec<u8> {
    let mut text = json!({ "docket": args.docket, "pages": args.pages }).to_string();
    text.push('\n');
    text.into_bytes()
}

fn filed(args: &Args, key: &str) -> Output<Filed> {
    let file = path(key);
    let receipt = json!({ "file": file });
    let change = Change::new("scan", &file, "create").external_ref(&file);
    Output::new(Filed { file, pages: args.pages.len() }).receipt(receipt).change(change)
}

fn file(args: Args, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if args.docket.trim().is_empty() {
        return Err(Error::invalid_input("the docket has no number"));
    }
    if args.pages.is_empty() {
        return Err(Error::invalid_input(format!("docket {} has no pages", args.docket)));
    }
    let bytes: usize = args.pages.iter().map(String::len).sum();
    if bytes > TEXT_MAX {
        let docket = &args.docket;
        return Err(Error::invalid_input(format!("docket {docket} has {bytes} bytes, more than {TEXT_MAX}")));
    }
    let key = context.external_key();
    fs::replace(&path(key), &content(&args), key)?;
    Ok(filed(&args, key))
}

fn reconcile(args: Args, key: &str) -> Result<Verdict<Output<Filed>>, Error> {
    Ok(match fs::exists(&path(key))? {
        true => Verdict::Happened(filed(&args, key)),
        false => Verdict::DidNotHappen,
    })
}

/// Removes the file, as long as it has the text of the call.
fn compensate(args: Args, filed: Filed, _: &str) -> Result<Output<()>, Error> {
    let found = match fs::read(&filed.file) {
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied(format!("{} is not there any more", filed.file)));
        }
        found => found?,
    };
    if found != content(&args) {
        return Err(Error::policy_denied(format!("{} was changed since", filed.file)));
    }
    fs::remove(&filed.file)?;
    Ok(Output::new(()).change(Change::new("scan", &filed.file, "delete").external_ref(&filed.file)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Scan.File", file)
            .describe("Files the text of a scanned court docket.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(30 * 86_400))
            .reconcile(reconcile)
            .compensate(compensate),
    ],
    exports: [reconcile, compensate],
}
