//! Compares the published schema with the plan check. Both must find the same structural errors.

use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::SCHEMA;
use crate::plan::check::tests::{TestCatalog, changed, good, good_waits, wait_mistakes};
use crate::plan::{STEPS_MAX, check};

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).unwrap()
});

/// Rules that the schema cannot express. They need the whole plan, the loaded plugins or a calculation.
const BEYOND_STRUCTURE: &[&str] = &[
    "P007", "P012", "P013", "P014", "P015", "P016", "P017", "P018", "P019", "P021", "P022", "P023", "P027", "P031",
    "P034", "P035", "P036", "P038",
];

fn codes(plan: &Value) -> Vec<&'static str> {
    let found = check(plan.to_string().as_bytes(), &TestCatalog).err().unwrap_or_default();
    found.into_iter().map(|violation| violation.code).collect()
}

/// Returns true if the schema and the structural rules agree about a plan: either both accept it or both refuse it.
fn agree(plan: &Value) -> bool {
    VALIDATOR.is_valid(plan) == codes(plan).iter().all(|code| BEYOND_STRUCTURE.contains(code))
}

#[test]
fn good_plans_are_valid() {
    assert!(VALIDATOR.is_valid(&good()));
    let normal = check(good().to_string().as_bytes(), &TestCatalog).unwrap().to_canonical();
    assert!(VALIDATOR.is_valid(&serde_json::from_slice(&normal).unwrap()));
}

#[test]
fn schema_and_check_refuse_structural_mistakes() {
    let mut refused = 0;
    for (pointer, value, code, _, _) in crate::plan::check::tests::mistakes() {
        let plan = crate::plan::check::tests::with(pointer, value.clone());
        // Skip `25h`. It has the form of a timeout but is too long, and only the plan check can find this mistake.
        if value == Some(json!("25h")) {
            continue;
        }
        assert_eq!(VALIDATOR.is_valid(&plan), BEYOND_STRUCTURE.contains(&code), "{pointer} := {value:?} {code}");
        refused += usize::from(!VALIDATOR.is_valid(&plan));
    }
    assert!(refused > 60);
}

#[test]
fn schema_and_check_refuse_wait_mistakes() {
    assert!(VALIDATOR.is_valid(&good_waits()));
    for (pointer, value, code, _, _) in wait_mistakes() {
        let plan = changed(good_waits(), pointer, value.clone());
        let arithmetic = [json!("3651d"), json!("2026-02-30T00:00:00Z")];
        if value.as_ref().is_some_and(|value| arithmetic.contains(value)) {
            continue;
        }
        assert_eq!(VALIDATOR.is_valid(&plan), BEYOND_STRUCTURE.contains(&code), "{pointer} := {value:?} {code}");
    }
}

#[test]
fn schema_and_check_limit_the_number_of_steps() {
    for (count, fits) in [(STEPS_MAX, true), (STEPS_MAX + 1, false)] {
        let mut plan = good();
        let mut step = plan["steps"][0].take();
        plan["steps"] = (0..count)
            .map(|number| {
                step["step_id"] = json!(format!("s{number}"));
                step.clone()
            })
            .collect();
        assert_eq!((VALIDATOR.is_valid(&plan), codes(&plan).is_empty()), (fits, fits), "{count}");
    }
}

#[test]
fn every_schema_key_has_a_description() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for properties in [&schema["properties"], &schema["$defs"]["step"]["properties"]] {
        for (key, property) in properties.as_object().unwrap() {
            assert!(property["description"].is_string(), "{key}");
        }
    }
}

/// Collects the pointers to every value of a plan.
fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, format!("{at}/{index}"), found))
        }
        Value::Object(fields) => fields.iter().for_each(|(key, field)| pointers(field, format!("{at}/{key}"), found)),
        _ => {}
    }
    found.push(at);
}

fn replacements() -> Vec<Value> {
    let texts = [
        "",
        "x",
        "keep",
        "never",
        "none",
        "1.0",
        "30s",
        "0s",
        "a b",
        "{",
        "{x}",
        "a\nb",
        "read_only",
        ">=1",
        ">=1,<2",
        "é",
        "~",
        ":",
        "\"",
    ];
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.5),
        json!(-1),
        json!(1e10),
        json!([]),
        json!({}),
        json!(["x", "x"]),
        json!({ "x": 1 }),
        json!({ "ttl_seconds": 1 }),
        json!({ "type": "T" }),
        json!({ "$ref": "s" }),
    ];
    texts.map(|text| json!(text)).into_iter().chain(others).collect()
}

proptest! {
    #[test]
    fn schema_and_check_agree_on_any_change(at in any::<prop::sample::Index>(), value in prop::sample::select(replacements()), add: bool) {
        let mut plan = good();
        let mut all = Vec::new();
        pointers(&plan, String::new(), &mut all);
        let place = plan.pointer_mut(at.get(&all).as_str()).unwrap();
        match place {
            Value::Object(fields) if add => drop(fields.insert("x".to_owned(), value)),
            Value::Array(items) if add => items.push(value),
            _ => *place = value,
        }
        prop_assert!(agree(&plan), "{} {:?}", plan, codes(&plan));
    }

    #[test]
    fn schema_and_check_agree_when_a_value_is_missing(at in any::<prop::sample::Index>()) {
        let mut plan = good();
        let mut all = Vec::new();
        pointers(&plan, String::new(), &mut all);
        all.pop();
        let (parent, key) = at.get(&all).rsplit_once('/').unwrap();
        match plan.pointer_mut(parent).unwrap() {
            Value::Object(fields) => drop(fields.remove(key)),
            Value::Array(items) => drop(items.remove(key.parse().unwrap())),
            _ => {}
        }
        prop_assert!(agree(&plan), "{} {:?}", plan, codes(&plan));
    }
}
