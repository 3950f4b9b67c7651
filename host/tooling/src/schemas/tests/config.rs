//! Compares the schema of `latch.toml` with its parser.

use serde_json::{Value, json};

use latchwork::config::{Config, LoadOptions};

use crate::schemas::tests::{Document, agree};

/// Renders a document as TOML: each top-level key on its own line, all nested values inline.
pub(super) fn toml_of(document: &Value) -> String {
    fn inline(value: &Value) -> String {
        match value {
            Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
            Value::Object(fields) => {
                let field = |(key, value): (&String, &Value)| format!("{} = {}", json!(key), inline(value));
                format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            plain => plain.to_string(),
        }
    }
    let fields = document.as_object().into_iter().flatten();
    fields.map(|(key, value)| format!("{} = {}\n", json!(key), inline(value))).collect()
}

fn accepts(config: &Value) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latch.toml"), toml_of(config)).unwrap();
    let options = LoadOptions { cwd: folder.path(), config: None, db: None, plan_folder: None, env: &|_| None };
    let read = Config::load(&options).map(drop);
    read.map_err(|errors| errors.0.iter().map(|p| format!("{}: {}", p.key, p.message)).collect::<Vec<_>>().join("; "))
}

/// Returns a configuration that contains every known key.
fn complete() -> Value {
    serde_json::from_str(include_str!("../../../../src/config/tests/complete.json")).unwrap()
}

/// I151: schema and parser accept the same configurations. [`BEYOND`] lists the only exception.
#[test]
fn schema_and_parser_agree() {
    agree(Document::Config, &complete(), &BEYOND, accepts);
}

/// The only change that the schema accepts and the parser refuses. With this change, the heartbeat is longer than half
/// of the lease, and a schema cannot compare two values.
const BEYOND: [&str; 1] = ["/heartbeat := \"30s\""];
