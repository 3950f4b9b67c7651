use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Minutes {
    title: String,
    points: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filed {
    file: String,
    points: usize,
}

fn path(key: &str) -> String {
    format!("/minutes/{}.md", key.replace([':', '/'], "+"))
}

fn text(minutes: &Minutes) -> String {
    let points: String = minutes.points.iter().map(|point| format!("- {}\n", point.replace('\n', " "))).collect();
    format!("# {}\n\n{points}", minutes.title.replace('\n', " "))
}

/// FNV-1a of a content, in hexadecimal digits.
fn print_of(content: &[u8]) -> String {
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

fn file(minutes: Minutes, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if minutes.title.trim().is_empty() {
        return Err(Error::invalid_input("the minutes have no title"));
    }
    let (key, content) = (context.external_key(), text(&minutes));
    fs::replace(&path(key), content.as_bytes(), key)?;
    let change = Change::new("file", path(key), "create").version(print_of(content.as_bytes()));
    Ok(Output::new(Filed { file: path(key), points: minutes.points.len() }).change(change))
}

fn check(change: &Change) -> Result<Finding, Error> {
    if !fs::exists(&change.resource_id)? {
        return Ok(Finding::Mismatch("the file is missing".into()));
    }
    let found = print_of(&fs::read(&change.resource_id)?);
    Ok(if change.version.as_deref() == Some(found.as_str()) {
        Finding::Confirmed
    } else {
        Finding::Mismatch(format!("the file has another content: {found}"))
    })
}

fn take_back(minutes: Minutes, filed: Filed, _: &str) -> Result<Output<()>, Error> {
    if !fs::exists(&filed.file)? || fs::read(&filed.file)? != text(&minutes).as_bytes() {
        return Err(Error::policy_denied("the minutes were changed or removed"));
    }
    fs::remove(&filed.file)?;
    Ok(Output::new(()).change(Change::new("file", filed.file, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("FileMinutes.File", file)
            .describe("Files the minutes of a meeting.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(86_400))
            .verify(check)
            .compensate(take_back),
    ],
    exports: [verify, compensate],
}
