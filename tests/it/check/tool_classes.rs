//! I273: the class of a step is compared with the classes of the tools that it calls.

use serde_json::{Value, json};

use super::Folder;
use crate::support::plugins::component_builder::{ComponentSpec, OperatorSpec, VALID_OPERATOR, VALID_TOOL};

/// Checks a `stable` step whose output has the answer of `Web.Fetch`. Returns the report.
fn checked(folder: &Folder, class: Option<&str>) -> Value {
    let mut first = json!({ "operator": "Web.Fetch", "result": { "status": 200 } });
    if let Some(class) = class {
        first["determinism"] = json!(class);
    }
    let files = ["a", "b", "c"].map(|file| json!({ "operator": "File.Read", "determinism": "pure", "result": file }));
    let answers = [&[first][..], &files].concat();
    let input = json!({ "url": "https://example.org/" });
    folder.write_cases(&[json!({ "operator": "Good.Flow", "input": input, "answers": answers })]);
    folder.check(&["--cases", "cases.jsonl", "--json"]).json()
}

/// Returns the messages of the findings about classes, and the notes.
fn of_classes(report: &Value) -> (Vec<&str>, &Value) {
    let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#}")).iter();
    let of_rule = findings.filter(|finding| finding["rule"] == "D078");
    (of_rule.map(|finding| finding["message"].as_str().unwrap()).collect(), &report["notes"])
}

const FOUND: &str =
    "it declares stable, but Web.Fetch is external: with another result of call 0, output at /page differs";

/// I273: a class that an answer states is used. I295: a tool whose class is not known is a warning.
#[test]
fn class_in_an_answer_is_compared() {
    let folder = Folder::new();
    let report = checked(&folder, Some("external"));
    assert_eq!(of_classes(&report), (vec![FOUND], &json!([])), "{report:#}");
    let report = checked(&folder, Some("stable"));
    assert_eq!(of_classes(&report), (vec![], &json!([])), "{report:#}");
    let report = checked(&folder, None);
    assert_eq!(of_classes(&report), (vec![], &json!([])), "{report:#}");
    let unknown = "it declares stable, and the class of Web.Fetch is not known: with another result of call 0, output at \
                   /page differs";
    let is_of_rule = |finding: &&Value| finding["rule"] == "D080";
    let finding = report["findings"].as_array().unwrap().iter().find(is_of_rule).unwrap();
    assert_eq!((&finding["severity"], &finding["message"]), (&json!("warning"), &json!(unknown)), "{report:#}");
}

/// I295: the effects of a configured tool are known. An answer that states effects comes first.
#[test]
fn effects_of_a_configured_tool_are_compared() {
    const FETCH: OperatorSpec = OperatorSpec { name: "Web.Fetch", effects: &[4], ..VALID_OPERATOR };
    let folder = Folder::new();
    let tool = ComponentSpec { operators: &[FETCH], ..VALID_TOOL }.build_component();
    std::fs::write(folder.file("web.wasm"), tool).unwrap();
    let plugin = |name: &str| format!("[[plugin]]\nname = \"{name}\"\nsource = \"{name}.wasm\"\n");
    folder.write("latch.toml", &[plugin("web"), plugin("check")].concat());
    let messages = |effects: Option<Value>| -> Vec<String> {
        let mut answer = json!({ "operator": "Web.Fetch", "result": {}, "determinism": "stable" });
        if let Some(effects) = effects {
            answer["effects"] = effects;
        }
        let files =
            ["a", "b", "c"].map(|file| json!({ "operator": "File.Read", "determinism": "pure", "result": file }));
        let answers = [&[answer][..], &files].concat();
        let input = json!({ "url": "https://example.org/" });
        folder.write_cases(&[json!({ "operator": "Good.Flow", "input": input, "answers": answers })]);
        let report = folder.check(&["--cases", "cases.jsonl", "--json"]).json();
        let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report:#}")).iter();
        let of_rule = findings.filter(|finding| finding["rule"] == "D081");
        of_rule.map(|finding| finding["message"].as_str().unwrap().to_owned()).collect()
    };
    let undeclared = "call 0 (Web.Fetch) has the effect external_send, which the step does not declare";
    assert_eq!(messages(None), [undeclared]);
    assert_eq!(messages(Some(json!(["read_only"]))), Vec::<String>::new());
}

/// I273: the class of a configured tool is known. An answer that states a class comes first.
#[test]
fn class_of_a_configured_tool_is_compared() {
    const FETCH: OperatorSpec = OperatorSpec { name: "Web.Fetch", ..VALID_OPERATOR };
    let folder = Folder::new();
    let tool = ComponentSpec { operators: &[FETCH], ..VALID_TOOL }.build_component();
    std::fs::write(folder.file("web.wasm"), tool).unwrap();
    let plugin = |name: &str| format!("[[plugin]]\nname = \"{name}\"\nsource = \"{name}.wasm\"\n");
    // A plugin that cannot be loaded hides no other one.
    folder.write("latch.toml", &[plugin("none"), plugin("web"), plugin("check")].concat());
    let report = checked(&folder, None);
    assert_eq!(of_classes(&report), (vec![FOUND], &json!([])), "{report:#}");
    let report = checked(&folder, Some("pure"));
    assert_eq!(of_classes(&report), (vec![], &json!([])), "{report:#}");
}
