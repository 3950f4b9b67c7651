//! The published JSON Schemas, with which an editor checks and completes the files of a project.
//!
//! A schema describes the structure of a file, as far as JSON Schema can express it. The parser of the file
//! also checks other rules, such as unique names and values that depend on each other.

use serde_json::{Map, Value, json};

use latchwork_core::model::error::Code;
use latchwork_core::plan;

#[cfg(test)]
mod tests;

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// A plan: `plan.json`.
    Plan,
    /// The configuration: `latch.toml`.
    Config,
    /// The recipe of a plugin: `latch-plugin.toml`.
    Recipe,
    /// A case: one line of `cases.jsonl`.
    Cases,
    /// A whole request: an intent and its plan.
    Request,
}

impl Document {
    /// All documents.
    pub const ALL: [Document; 5] =
        [Document::Plan, Document::Config, Document::Recipe, Document::Cases, Document::Request];

    /// Name of the document on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Document::Plan => "plan",
            Document::Config => "config",
            Document::Recipe => "recipe",
            Document::Cases => "cases",
            Document::Request => "request",
        }
    }

    /// Description of the document in a few words.
    pub fn description(self) -> &'static str {
        match self {
            Document::Plan => "a plan: plan.json",
            Document::Config => "the configuration: latch.toml",
            Document::Recipe => "what a plugin's folder makes: latch-plugin.toml",
            Document::Cases => "a case of a plugin: one line of cases.jsonl",
            Document::Request => "a request: an intent and its plan",
        }
    }

    /// Returns the JSON Schema (draft 2020-12) as text.
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

/// Returns the schema of cases with the error codes of this version.
fn cases() -> Value {
    let mut schema = parsed(include_str!("cases.json"));
    schema["$defs"]["code"]["enum"] = json!(Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>());
    schema
}

/// Returns the schema of requests. The schema of plans and its definitions are embedded, because a request
/// contains a plan.
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
