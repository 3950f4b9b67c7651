//! `docs/reference/latch-plugin-toml.md` against the schema of `latch-plugin.toml`. Another test compares the schema with
//! the parser (`host/tooling/src/schemas/tests/recipe.rs`).

use std::collections::BTreeSet;

use super::{assert_none, code_spans, differences, read, rows};

#[test]
fn page_of_the_recipe_lists_every_key() {
    let schema: serde_json::Value = serde_json::from_str(&read("host/tooling/src/schemas/recipe.json")).unwrap();
    let keys = |table: &serde_json::Value| -> BTreeSet<String> {
        table["properties"].as_object().expect("a table has keys").keys().cloned().collect()
    };
    let tables = &schema["properties"];
    assert_eq!(keys(&schema), BTreeSet::from(["exception".to_owned(), "plugin".to_owned()]), "a table has no section");
    let page = read("docs/reference/latch-plugin-toml.md");
    let (plugin, exceptions) = page.split_once("The list `[[exception]]`").expect("the page has both tables");
    let named = |part: &str| -> BTreeSet<String> {
        let keys = rows(part).into_iter().filter_map(|cells| code_spans(cells[0]).first().map(|key| (*key).to_owned()));
        keys.collect()
    };
    let of_plugin = differences(&keys(&tables["plugin"]), &named(plugin), "[plugin]");
    let of_exceptions = differences(&keys(&tables["exception"]["items"]), &named(exceptions), "[[exception]]");
    assert_none("docs/reference/latch-plugin-toml.md", &[of_plugin, of_exceptions].concat());
}
