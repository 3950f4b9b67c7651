//! Tests of plans with several mistakes. The violations must be in the order of the text.

use super::*;

#[test]
fn ten_mistakes_cause_ten_violations_with_positions() {
    let text = r#"{
  "steps": [
    {"step_id": "a", "kind": "operator", "name": "Mail.Sent", "payload": {"to": {"$ref": "b#/x"}},
     "idempotency_template": "{too}", "effects": ["external_send"], "cache_policy": "never", "colour": 1,
     "policy_tags": []},
    {"step_id": "a b", "kind": "wait", "name": "Web.Fetch", "payload": null,
     "timeout": "soon", "effects": [], "policy_tags": [],
     "depends_on": ["é", "nowhere"], "idempotency_template": "x"}
  ],
  "schema_version": "0.9"
}"#;
    let found = check(text.as_bytes(), &TestCatalog).unwrap_err();
    let located: Vec<_> =
        found.iter().map(|found| (found.code, found.pointer.as_str(), (found.line, found.column))).collect();
    assert_eq!(
        located,
        [
            ("P012", "/steps/0/name", (3, 50)),
            ("P017", "/steps/0/payload/to", (3, 81)),
            ("P021", "/steps/0/idempotency_template", (4, 30)),
            ("P005", "/steps/0/colour", (4, 104)),
            ("P006", "/steps/1/step_id", (6, 17)),
            ("P003", "/steps/1/payload", (6, 72)),
            ("P024", "/steps/1/timeout", (7, 17)),
            ("P033", "/steps/1/timeout", (7, 17)),
            ("P006", "/steps/1/depends_on/0", (8, 21)),
            ("P013", "/steps/1/depends_on/1", (8, 26)),
            ("P008", "/schema_version", (10, 21)),
        ]
    );
    assert_eq!(found[0].to_string().split(": ").next(), Some("3:50 \"/steps/0/name\" P012"));
}

#[test]
fn violations_are_in_text_order() {
    let text = r#"{"steps": [], "plan_id": 1, "schema_version": 1, "on_failure": 1}"#;
    let found = check(text.as_bytes(), &TestCatalog).unwrap_err();
    let pointers: Vec<_> = found.iter().map(|found| found.pointer.as_str()).collect();
    assert_eq!(pointers, ["/steps", "/plan_id", "/schema_version", "/on_failure"]);
}

#[test]
fn each_cycle_is_reported_separately() {
    let step = |id: &str, depends_on: &[&str]| {
        json!({ "step_id": id, "kind": "operator", "name": "Text.Summarize", "payload": {}, "depends_on": depends_on,
            "effects": [], "policy_tags": [], "cache_policy": "never", "idempotency_template": "x" })
    };
    let plan = |steps: &[Value]| json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps });
    let two = plan(&[
        step("d", &["c"]),
        step("b", &["a"]),
        step("a", &["b"]),
        step("c", &["d"]),
        step("0-leads-in", &["b", "d"]),
        step("free", &[]),
    ]);
    let found = violations(&two);
    assert_eq!(brief(&found), [("P015", "/steps/2/depends_on"), ("P015", "/steps/3/depends_on")]);
    assert!(found[0].message.contains("a → b → a") && found[1].message.contains("c → d → c"), "{found:?}");
    // A step that depends on itself causes only one violation.
    assert_eq!(brief(&violations(&plan(&[step("a", &["a"])]))), [("P014", "/steps/0/depends_on/0")]);
    // A long cycle does not overflow the stack.
    let ids: Vec<String> = (0..STEPS_MAX).map(|number| format!("s{number:03}")).collect();
    let steps: Vec<Value> = (0..STEPS_MAX).map(|at| step(&ids[at], &[&ids[(at + 1) % STEPS_MAX]])).collect();
    let found = violations(&plan(&steps));
    assert_eq!(brief(&found), [("P015", "/steps/0/depends_on")]);
    assert!(found[0].message.contains("s998 → s999 → s000"));
}

#[test]
fn one_mistake_does_not_hide_another() {
    let all = mistakes();
    // Mistakes in different steps do not influence each other.
    let in_step = |step: &'static str| {
        all.iter().filter(move |mistake| mistake.3.starts_with(step) && mistake.0.starts_with(step)).cloned()
    };
    let independent = ["P003", "P005", "P024", "P026", "P022"];
    for first in in_step("/steps/0/").filter(|mistake| independent.contains(&mistake.2)) {
        for second in in_step("/steps/1/").filter(|mistake| independent.contains(&mistake.2)) {
            if [&first, &second]
                .into_iter()
                .any(|mistake| mistake.0.ends_with("step_id") || mistake.0.contains("hashes"))
            {
                continue;
            }
            let mut plan = with(first.0, first.1.clone());
            let (parent, key) = second.0.rsplit_once('/').unwrap();
            plan.pointer_mut(parent).unwrap()[key] = second.1.clone().unwrap();
            assert_eq!(brief(&violations(&plan)), [(first.2, first.3), (second.2, second.3)]);
        }
    }
}
