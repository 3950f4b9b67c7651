//! Binds the minutes of meetings into a folder, one file for each meeting.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Minutes {
    title: String,
    decisions: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Bound {
    file: String,
    lines: usize,
}

/// Name of the files of a call. A key has no dot.
fn name(key: &str) -> String {
    key.replace([':', '/'], ".")
}

fn page(minutes: &Minutes) -> String {
    let mut text = format!("# {}\n", minutes.title);
    for decision in &minutes.decisions {
        text.push_str(&format!("- {decision}\n"));
    }
    text
}

fn bind(minutes: Minutes, context: &tool::Context) -> Result<Output<Bound>, Error> {
    if minutes.title.trim().is_empty() {
        return Err(Error::invalid_input("the minutes have no title"));
    }
    let name = name(context.external_key());
    let (draft, file) = (format!("/binder/.{name}.part"), format!("/binder/{name}.md"));
    if fs::exists(&draft)? {
        fs::remove(&draft)?;
    }
    fs::create_new(&draft, page(&minutes).as_bytes())?;
    fs::rename(&draft, &file)?;
    Ok(bound(&minutes, file))
}

/// A try that was cut off before the last move has written its page: the page only has to be put into place.
fn reconcile(minutes: Minutes, key: &str) -> Result<Verdict<Output<Bound>>, Error> {
    let name = name(key);
    let (draft, file) = (format!("/binder/.{name}.part"), format!("/binder/{name}.md"));
    if fs::exists(&file)? {
        return Ok(Verdict::Happened(bound(&minutes, file)));
    }
    if fs::exists(&draft)? && fs::read(&draft)? == page(&minutes).as_bytes() {
        fs::rename(&draft, &file)?;
        return Ok(Verdict::Happened(bound(&minutes, file)));
    }
    Ok(Verdict::DidNotHappen)
}

fn bound(minutes: &Minutes, file: String) -> Output<Bound> {
    let change = Change::new("minutes", &file, "create").external_ref(&file);
    Output::new(Bound { file, lines: minutes.decisions.len() + 1 }).change(change)
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Minutes.Bind", bind)
            .describe("Binds the minutes of a meeting.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
