//! Revises single rules in the house rules of almshouses.

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const RULE_BYTES_MAX: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Revision {
    /// Name of the house: lower-case letters, digits and `-`.
    house: String,
    /// Number of the line, from 1.
    line: usize,
    rule: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Revised {
    house: String,
    line: usize,
    /// The rule that the new rule replaced.
    earlier: String,
}

fn path(house: &str) -> Result<String, Error> {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if house.is_empty() || house.len() > 60 || !house.chars().all(letters) {
        return Err(Error::invalid_input(format!("{house:?} is no name of a house")));
    }
    Ok(format!("/rules/{house}.txt"))
}

/// Puts `rule` at the place of a line. Returns the new text and the earlier rule.
fn exchange(text: &str, line: usize, rule: &str) -> Result<(String, String), Error> {
    let mut rules: Vec<&str> = text.lines().collect();
    let place = line.checked_sub(1).and_then(|at| rules.get_mut(at));
    let Some(place) = place else {
        return Err(Error::invalid_input(format!("there is no line {line}")));
    };
    let earlier = std::mem::replace(place, rule).to_owned();
    let mut text = rules.join("\n");
    text.push('\n');
    Ok((text, earlier))
}

fn revise(revision: Revision, context: &tool::Context) -> Result<Output<Revised>, Error> {
    let path = path(&revision.house)?;
    let rule = revision.rule.trim();
    if rule.is_empty() || rule.len() > RULE_BYTES_MAX || rule.contains(['\n', '\r']) {
        return Err(Error::invalid_input(format!("a rule is one line of 1 to {RULE_BYTES_MAX} bytes")));
    }
    let (text, earlier) = exchange(&fs::read_to_string(&path)?, revision.line, rule)?;
    fs::replace(&path, text.as_bytes(), context.external_key())?;
    let change = Change::new("house rules", &revision.house, "update").external_ref(path);
    Ok(Output::new(Revised { house: revision.house, line: revision.line, earlier }).change(change))
}

/// Puts the earlier rule back, unless the rule was revised again.
fn restore(revision: Revision, revised: Revised, key: &str) -> Result<Output<()>, Error> {
    let path = path(&revision.house)?;
    let (text, present) = exchange(&fs::read_to_string(&path)?, revision.line, &revised.earlier)?;
    if present != revision.rule.trim() {
        return Err(Error::policy_denied("the rule was revised again"));
    }
    fs::replace(&path, text.as_bytes(), key)?;
    Ok(Output::new(()).change(Change::new("house rules", &revision.house, "update").external_ref(path)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Rule.Revise", revise)
            .describe("Revises one rule in the house rules of an almshouse.")
            .effects([Effect::InternalWrite])
            .compensate(restore),
    ],
    exports: [compensate],
}
