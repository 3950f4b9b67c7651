//! Compares the documentation page of the plan format with the code.

use super::pinned::AnyOperator;
use super::*;

const PAGE: &str = include_str!("../../../../../../docs/reference/plans.md");

#[test]
fn documented_plan_is_accepted() {
    let begin = "cat > plan.json <<'END'\n";
    let plan = PAGE.split(begin).nth(1).and_then(|rest| rest.split("END").next()).expect("it begins with a plan");
    let plan = check(plan.as_bytes(), &AnyOperator).unwrap_or_else(|found| panic!("{found:?}"));
    let depends_on: Vec<_> = plan.steps.iter().map(|step| step.depends_on.len()).collect();
    assert_eq!(depends_on, [0, 1, 2]);
}

#[test]
fn documentation_lists_every_key_and_rule() {
    let schema: Value = serde_json::from_str(crate::plan::SCHEMA).unwrap();
    for keys in [&schema["properties"], &schema["$defs"]["step"]["properties"]] {
        for key in keys.as_object().unwrap().keys() {
            assert!(PAGE.contains(&format!("| `{key}` |")), "{key}");
        }
    }
    for (code, rule) in RULES {
        assert!(PAGE.contains(&format!("| {code} | {rule} |")), "{code}");
    }
}
