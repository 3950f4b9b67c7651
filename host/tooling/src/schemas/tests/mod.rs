//! Compares each schema with the parser of its document (I151). Both accept a complete document. After each change in
//! one place, schema and parser must both accept or both refuse the document.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::schemas::Document;

mod cases;
mod config;
mod recipe;
mod request;

fn validator(document: Document) -> Validator {
    let schema: Value = serde_json::from_str(&document.text()).unwrap();
    assert!(jsonschema::meta::is_valid(&schema), "{}", document.name());
    jsonschema::draft202012::new(&schema).unwrap()
}

/// Collects pointers to every value of a document, the whole document last.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let child = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &child(&index.to_string()), found));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, field)| pointers(field, &child(key), found)),
        _ => {}
    }
    found.push(at.to_owned());
}

/// Returns the document without the value at `pointer`. Returns `None` if the value has no parent.
fn without(document: &Value, pointer: &str) -> Option<Value> {
    let (parent, key) = pointer.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let mut changed = document.clone();
    match changed.pointer_mut(parent)? {
        Value::Object(fields) => drop(fields.remove(&key)?),
        Value::Array(items) => drop(items.remove(key.parse().ok()?)),
        _ => return None,
    }
    Some(changed)
}

/// Returns the values that replace each value of a document in turn.
fn replacements() -> Vec<Value> {
    let texts = [
        "",
        "x",
        "x y",
        "a\nb",
        "0",
        "30s",
        "0s",
        "-1s",
        "64MiB",
        "1.00",
        "1.0000001",
        "strict",
        "DRY_RUN",
        "/x",
        "../x",
        "https://a.example",
        "a.example:1",
        "sqlite://x",
        "A.B",
        "RATE_LIMIT",
        "1.0.0",
        "step",
        "js",
        "rust",
        "fail",
    ];
    let others = [
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(2),
        json!(99_999_999_999_u64),
        json!(-1),
        json!(-101),
        json!(1.5),
        json!([]),
        json!({}),
        json!(["x"]),
        json!([1]),
        json!({ "x": 1 }),
        json!({ "x": "1" }),
    ];
    texts.map(|text| json!(text)).into_iter().chain(others).collect()
}

/// Returns copies of the document, each with one change: a value of another type or range, a missing key, or
/// an unknown key. Each copy comes with a description of its change.
fn changes(document: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    pointers(document, "", &mut places);
    let mut changes = Vec::new();
    for place in &places {
        if let Some(changed) = without(document, place) {
            changes.push((format!("{place} removed"), changed));
        }
        if document.pointer(place).is_some_and(Value::is_object) {
            let mut changed = document.clone();
            changed.pointer_mut(place).unwrap()["unknown_key"] = json!(1);
            changes.push((format!("{place}/unknown_key added"), changed));
        }
        for value in replacements().into_iter().filter(|_| !place.is_empty()) {
            let mut changed = document.clone();
            let description = format!("{place} := {value}");
            *changed.pointer_mut(place).unwrap() = value;
            changes.push((description, changed));
        }
    }
    changes
}

/// Compares schema and parser for every change. `beyond` lists the changes that the parser alone refuses,
/// because no schema can express the rule.
fn agree(document: Document, whole: &Value, beyond: &[&str], accepts: impl Fn(&Value) -> Result<(), String>) {
    let validator = validator(document);
    assert_eq!(accepts(whole), Ok(()), "{}", document.name());
    assert!(validator.is_valid(whole), "{}: {:?}", document.name(), validator.iter_errors(whole).next());
    let (mut refused, mut wrong, mut excused) = (0, Vec::new(), BTreeSet::new());
    for (description, changed) in changes(whole) {
        let parser = accepts(&changed);
        match (validator.is_valid(&changed), parser) {
            (true, Err(why)) => match beyond.iter().find(|change| description == **change) {
                Some(change) => drop(excused.insert(*change)),
                None => wrong.push(format!("{description}: only the parser refuses it: {why}")),
            },
            (false, Ok(())) => wrong.push(format!("{description}: only the schema refuses it")),
            (false, Err(_)) => refused += 1,
            (true, Ok(())) => {}
        }
    }
    assert!(wrong.is_empty(), "{}: {} differences\n{}", document.name(), wrong.len(), wrong.join("\n"));
    let expected: BTreeSet<&str> = beyond.iter().copied().collect();
    assert_eq!(excused, expected, "a difference that is not there any more");
    assert!(refused > 100, "{refused}");
}

#[test]
fn every_schema_is_valid_and_has_a_title() {
    for document in Document::ALL {
        validator(document);
        let schema: Value = serde_json::from_str(&document.text()).unwrap();
        for key in ["$schema", "title", "description"] {
            assert!(schema[key].is_string(), "{}: {key}", document.name());
        }
    }
}
