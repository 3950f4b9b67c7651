//! Compares the schema of `latch-plugin.toml` with its parser.

use std::path::Path;

use serde_json::{Value, json};

use crate::build::Recipe;
use crate::schemas::tests::config::toml_of;
use crate::schemas::tests::{Document, agree, validator};

fn accepts(recipe: &Value) -> Result<(), String> {
    let read = Recipe::parse(&toml_of(recipe), Path::new("latch-plugin.toml"));
    read.map(drop).map_err(|problems| problems.iter().map(|p| p.message.clone()).collect::<Vec<_>>().join("; "))
}

/// I151: schema and parser accept the same recipes.
#[test]
fn schema_and_parser_agree() {
    let tool = json!({ "plugin": {
        "name": "mail", "kind": "tool", "lang": "js", "version": "1.0.0", "main": "src/plugin.js", "sdk": "latchwork",
        "exports": ["reconcile", "verify", "compensate"], "engine": "starlingmonkey",
    }, "exception": [{ "rule": "D064", "operator": "Mail.Send", "function": "f", "reason": "told" }] });
    agree(Document::Recipe, &tool, &[], accepts);
    let rust = json!({ "plugin": { "name": "mail", "kind": "step", "lang": "rust" } });
    assert_eq!(accepts(&rust), Ok(()));
    assert!(validator(Document::Recipe).is_valid(&rust));
    for key in ["version", "main", "sdk", "exports", "engine"] {
        let mut more = rust.clone();
        more["plugin"][key] = tool["plugin"][key].clone();
        assert!(accepts(&more).is_err() && !validator(Document::Recipe).is_valid(&more), "{key}");
    }
}
