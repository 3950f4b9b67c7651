//! `latch schema`

use serde_json::{Value, json};

use crate::support::program::run_latch;

#[test]
fn schema_command_prints_the_schema_of_each_document() {
    let dir = tempfile::tempdir().unwrap();
    let listed = run_latch(dir.path(), &["schema", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let names: Vec<Value> = listed.json()["schemas"].as_array().unwrap().iter().map(|s| s["name"].clone()).collect();
    assert_eq!(names, ["plan", "config", "recipe", "cases", "request"].map(Value::from));
    for name in names.iter().filter_map(Value::as_str) {
        let printed = run_latch(dir.path(), &["schema", name]);
        assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{name}");
        assert_eq!(printed.json()["$schema"], json!("https://json-schema.org/draft/2020-12/schema"), "{name}");
    }
    for (file, name) in [("latch.toml", "config"), ("latch-plugin.toml", "recipe"), ("plan.json", "plan")] {
        let [by_file, by_name] = [file, name].map(|name| run_latch(dir.path(), &["schema", name]).stdout);
        assert_eq!(by_file, by_name);
    }
    assert_eq!(run_latch(dir.path(), &["plan", "schema"]).stdout, run_latch(dir.path(), &["schema", "plan"]).stdout);
    let unknown = run_latch(dir.path(), &["schema", "plans"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("'plan'"), "{}", unknown.stderr);
}
