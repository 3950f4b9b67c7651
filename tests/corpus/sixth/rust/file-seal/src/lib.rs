//! Writes a sealed file with the present time and a random seal. The file appears at once, or not at all. Undoing
//! renames it, so that a second try of the undo finds what the first one did.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Paper {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sealed {
    file: String,
    seal: String,
}

/// Returns the path of the file of a call. Different keys have different paths.
fn path(key: &str, ending: &str) -> String {
    let mut name = String::new();
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => name.push(char::from(byte)),
            other => name.push_str(&format!("_{other:02x}")),
        }
    }
    format!("/sealed/{name}.{ending}")
}

/// Returns the first line of a file, which is its seal.
fn seal_of(content: &str) -> &str {
    content.lines().next().unwrap_or_default()
}

fn sealed(key: &str, seal: &str) -> Output<Sealed> {
    let file = path(key, "txt");
    let change = Change::new("paper", file.clone(), "create").version(seal);
    Output::new(Sealed { file, seal: seal.to_owned() }).change(change)
}

fn seal(paper: Paper, context: &tool::Context) -> Result<Output<Sealed>, Error> {
    if paper.text.trim().is_empty() || paper.text.len() > 100_000 {
        return Err(Error::invalid_input("the paper is empty or too long"));
    }
    let key = context.external_key();
    let seal: String = wall::random(8).iter().map(|byte| format!("{byte:02x}")).collect();
    let content = format!("{seal}\n{}\n{}", wall::now(), paper.text);
    fs::replace(&path(key, "txt"), content.as_bytes(), key)?;
    Ok(sealed(key, &seal))
}

fn find(_: Paper, key: &str) -> Result<Verdict<Output<Sealed>>, Error> {
    match fs::read_to_string(&path(key, "txt")) {
        Ok(content) => Ok(Verdict::Happened(sealed(key, seal_of(&content)))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Verdict::DidNotHappen),
        Err(error) => Err(error.into()),
    }
}

fn check(change: &Change) -> Result<Finding, Error> {
    match fs::read_to_string(&change.resource_id) {
        Ok(content) => Ok(Finding::compare(change.version.as_deref(), seal_of(&content))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Finding::Mismatch("the paper is missing".into())),
        Err(error) => Err(error.into()),
    }
}

fn undo(paper: Paper, sealed: Sealed, key: &str) -> Result<Output<()>, Error> {
    let (from, to) = (path(key, "txt"), path(key, "undone"));
    match fs::read_to_string(&from) {
        Ok(content) if seal_of(&content) == sealed.seal && content.ends_with(&paper.text) => fs::rename(&from, &to)?,
        Ok(_) => return Err(Error::policy_denied("the paper was changed")),
        Err(error) if error.kind() == fs::ErrorKind::NotFound && fs::exists(&to)? => {}
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied("the paper was removed"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Output::new(()).change(Change::new("paper", from, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Paper.Seal", seal)
            .describe("Writes a sealed file.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(check)
            .compensate(undo),
    ],
    exports: [reconcile, verify, compensate],
}
