//! Keeps the passes of visitors in the folder that the gate of a works reads.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const FOLDER: &str = "/passes";
/// Most passes that one visitor can have.
const PASSES: usize = 100;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pass {
    /// Name of the visitor, as in the passport.
    visitor: String,
    /// Gates that the pass opens.
    gates: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Issued {
    pass: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Leaving {
    visitor: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Withdrawn {
    passes: Vec<String>,
}

/// Name of the pass of a call. A key has neither dots nor commas.
fn name(key: &str) -> String {
    key.replace(':', ".").replace('/', ",")
}

fn path(pass: &str) -> String {
    format!("{FOLDER}/{pass}.json")
}

fn issue(pass: Pass, context: &tool::Context) -> Result<Output<Issued>, Error> {
    if pass.visitor.trim().is_empty() {
        return Err(Error::invalid_input("the pass has no visitor"));
    }
    if pass.gates.is_empty() {
        return Err(Error::invalid_input("the pass opens no gate"));
    }
    let key = context.external_key();
    let name = name(key);
    let content = serde_json::to_vec(&pass).map_err(|error| Error::invalid_input(error.to_string()))?;
    fs::replace(&path(&name), &content, key)?;
    let change = Change::new("pass", &name, "create").external_ref(path(&name));
    Ok(Output::new(Issued { pass: name }).change(change))
}

/// Takes all passes of a visitor who leaves the works.
fn withdraw(leaving: Leaving, _: &tool::Context) -> Result<Output<Withdrawn>, Error> {
    let visitor = leaving.visitor.trim();
    let mut passes = Vec::new();
    for entry in fs::list(FOLDER)? {
        // Files with a leading dot are still being written.
        let Some(name) = entry.name.strip_suffix(".json").filter(|name| !name.starts_with('.')) else { continue };
        let content = match fs::read(&path(name)) {
            Ok(content) => content,
            Err(error) if error.kind() == fs::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        let pass: Pass = serde_json::from_slice(&content)
            .map_err(|error| Error::schema_validation_failed(format!("the pass {name}: {error}")).not_applied())?;
        if pass.visitor.trim() == visitor {
            passes.push(name.to_owned());
        }
    }
    if passes.is_empty() {
        return Err(Error::invalid_input(format!("{visitor:?} has no pass")));
    }
    if passes.len() > PASSES {
        return Err(Error::policy_denied(format!("{visitor:?} has more than {PASSES} passes")));
    }
    for pass in &passes {
        fs::remove(&path(pass)).map_err(|error| Error::from(error).applied_unknown())?;
    }
    let changes: Vec<Change> =
        passes.iter().map(|pass| Change::new("pass", pass, "delete").external_ref(path(pass))).collect();
    Ok(changes.into_iter().fold(Output::new(Withdrawn { passes }), Output::change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pass.Issue", issue)
            .describe("Issues a pass to a visitor.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(24 * 3600)),
        tool::operator("Pass.Withdraw", withdraw)
            .describe("Withdraws all passes of a visitor.")
            .effects([Effect::InternalWrite]),
    ],
}
