//! The published JSON Schemas: what an editor needs to check and complete the files of a project.
//!
//! Each describes structure, as far as a schema can. The parser of a file knows more: names that have to be unique,
//! values that depend on each other.

use latchwork_core::error::Code;
use latchwork_core::plan;
use serde_json::{Map, Value, json};

#[cfg(test)]
mod tests;

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// `plan.json`
    Plan,
    /// `latch.toml`
    Config,
    /// `latch-plugin.toml`
    Recipe,
    /// A line of `cases.jsonl`
    Cases,
    /// A whole request: an intent and its plan
    Request,
}

impl Document {
    /// All of them.
    pub const ALL: [Document; 5] =
        [Document::Plan, Document::Config, Document::Recipe, Document::Cases, Document::Request];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Document::Plan => "plan",
            Document::Config => "config",
            Document::Recipe => "recipe",
            Document::Cases => "cases",
            Document::Request => "request",
        }
    }

    /// What it describes, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Document::Plan => "a plan: plan.json",
            Document::Config => "the configuration: latch.toml",
            Document::Recipe => "what a plugin's folder makes: latch-plugin.toml",
            Document::Cases => "a case of a plugin: one line of cases.jsonl",
            Document::Request => "a request: an intent and its plan",
        }
    }

    /// Its schema (draft 2020-12) as text.
    pub fn text(self) -> String {
        match self {
            Document::Plan => plan::SCHEMA.to_owned(),
            Document::Config => include_str!("config.json").to_owned(),
            Document::Recipe => include_str!("recipe.json").to_owned(),
            Document::Cases => format!("{:#}\n", cases()),
            Document::Request => format!("{:#}\n", request()),
        }
    }
}

/// The codes are those of this version.
fn cases() -> Value {
    let mut schema = parsed(include_str!("cases.json"));
    schema["$defs"]["code"]["enum"] = json!(Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>());
    schema
}

/// A request holds a plan, whose schema is taken in with all that it refers to.
fn request() -> Value {
    let mut schema = parsed(include_str!("request.json"));
    let mut plan = parsed(plan::SCHEMA);
    let fields = plan.as_object_mut().map(std::mem::take).unwrap_or_default();
    let (mut plan, mut defs) = (Map::new(), Map::new());
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("$schema", _) => {}
            ("$defs", Value::Object(found)) => defs = found,
            (_, value) => {
                plan.insert(key, value);
            }
        }
    }
    defs.insert("plan".to_owned(), Value::Object(plan));
    schema["$defs"] = Value::Object(defs);
    schema
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("a schema that is part of this program is JSON")
}
