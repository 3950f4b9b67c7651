//! Tests of the limits of schemas at their edges: the limit passes, and one more is refused.

use serde_json::{Value, json};

use latchwork_core::model::bounds;

use crate::engine::schema::graph::Graph;
use crate::engine::schema::{PatternSizes, Schemas, patterns, work};
use crate::os::clock::boot_us;

#[track_caller]
fn assert_loads(schema: &Value) {
    if let Err(refused) = Schemas::compile(&schema.to_string(), "true") {
        panic!("{refused:?}");
    }
}

#[track_caller]
fn assert_refused(schema: &Value, says: &str) {
    let refused = Schemas::compile(&schema.to_string(), "true").unwrap_err();
    assert!(refused[0].1.contains(says), "{refused:?}");
}

fn graph(schema: &Value) -> Graph {
    Graph::read(&schema.to_string()).unwrap().1
}

/// I225: bound `schema_bytes`.
#[test]
fn schema_is_refused_beyond_its_largest_size() {
    let empty = json!({ "description": "" }).to_string().len();
    let of_bytes = |bytes: usize| json!({ "description": "x".repeat(bytes - empty) });
    assert_loads(&of_bytes(bounds::SCHEMA_BYTES));
    assert_refused(&of_bytes(bounds::SCHEMA_BYTES + 1), "262145 bytes, the maximum is 262144");
}

/// I225: bound `schema_nesting`.
#[test]
fn schema_is_refused_beyond_its_deepest_nesting() {
    // The schema itself is the first level. The arrays in it are nested in each other.
    let nested = |arrays: usize| json!({ "default": (1..arrays).fold(json!([]), |inner, _| json!([inner])) });
    assert_loads(&nested(bounds::SCHEMA_NESTING));
    assert_refused(&nested(bounds::SCHEMA_NESTING + 1), "nested more than 64 levels");
}

/// I225: bound `subschemas`.
#[test]
fn schema_is_refused_beyond_its_number_of_subschemas() {
    let of = |subschemas: usize| {
        let inner: serde_json::Map<String, Value> = (1..subschemas).map(|n| (n.to_string(), json!({}))).collect();
        json!({ "properties": inner })
    };
    assert_loads(&of(bounds::SUBSCHEMAS));
    assert_refused(&of(bounds::SUBSCHEMAS + 1), "more than 1000 subschemas");
}

/// Schema with a chain of `links` references, the last of which leads to `end`.
fn chain(links: usize, end: &Value) -> Value {
    let link = |n: usize| json!({ "$ref": format!("#/$defs/d{n}") });
    let mut definitions: serde_json::Map<String, Value> = (1..links).map(|n| (format!("d{n}"), link(n + 1))).collect();
    definitions.insert(format!("d{links}"), end.clone());
    json!({ "$ref": "#/$defs/d1", "$defs": definitions })
}

/// I225: bound `schema_chain`.
#[test]
fn schema_is_refused_beyond_its_longest_chain() {
    assert_loads(&chain(bounds::SCHEMA_CHAIN, &json!({ "type": "string" })));
    assert_refused(&chain(bounds::SCHEMA_CHAIN + 1, &json!({ "type": "string" })), "more than 64 subschemas in a row");
}

/// I208: bounds `schema_pattern_bytes` and `component_pattern_bytes`.
#[test]
fn patterns_are_refused_beyond_their_largest_size() {
    let pattern = "^x{500}$";
    let each = patterns::cost(pattern).unwrap().bytes;
    let most = bounds::SCHEMA_PATTERN_BYTES / each;
    let of = |count: usize| {
        let texts: serde_json::Map<String, Value> =
            (0..count).map(|n| (n.to_string(), json!({ "pattern": pattern }))).collect();
        Graph::read(&json!({ "properties": texts }).to_string())
    };
    assert_eq!(of(most).unwrap().1.pattern_sizes.states, most * each);
    assert!(of(most + 1).unwrap_err().contains("more than 4 MiB of states"));
    let component =
        |states| patterns::check_component(PatternSizes { states, text: 0 }, bounds::SCHEMA_PATTERN_TEXT_BYTES);
    component(bounds::COMPONENT_PATTERN_BYTES).unwrap();
    let refused = component(bounds::COMPONENT_PATTERN_BYTES + 1).unwrap_err();
    assert!(refused.contains("more than 32 MiB of states"), "{refused}");
}

/// I248: bound `schema_pattern_text_bytes`. A text is measured before it is parsed, wherever it stands in the schema.
#[test]
fn texts_of_patterns_are_refused_beyond_their_largest_length() {
    let most = bounds::SCHEMA_PATTERN_TEXT_BYTES;
    let of_bytes = |bytes: usize| format!("[{}]", "x".repeat(bytes - 2));
    assert_loads(&json!({ "pattern": of_bytes(most) }));
    for schema in [
        json!({ "pattern": of_bytes(most + 1) }),
        json!({ "pattern": "x", "$defs": { "unused": { "pattern": of_bytes(most) } } }),
        json!({ "patternProperties": { of_bytes(most + 1): true } }),
    ] {
        assert_refused(&schema, "65537 bytes of text, the maximum is 65536");
    }
    let component = |text| patterns::check_component(PatternSizes { states: 0, text }, most);
    component(most).unwrap();
    assert!(component(most + 1).unwrap_err().contains("65537 bytes of text"));
}

/// I248: classes of characters take the time of their text. The largest text takes a few seconds even without
/// optimization.
#[test]
fn largest_text_of_a_pattern_is_parsed_in_time() {
    let classes = r"\p{L}".repeat(bounds::SCHEMA_PATTERN_TEXT_BYTES / 5 - 1);
    let begun_us = boot_us();
    assert_loads(&json!({ "pattern": format!("[{classes}]") }));
    let took_us = boot_us() - begun_us;
    assert!(took_us < 60_000_000, "{took_us}");
}

/// I225: bound `schema_work`.
#[test]
fn check_is_refused_beyond_its_work() {
    // Each item costs one application and 999 comparisons. The list costs one application, and one comparison for each
    // required name.
    let items = bounds::SCHEMA_WORK as usize / 1_000 - 1;
    let value = Value::from(vec![0; items]);
    let count = |required: usize| {
        let names: Vec<String> = (0..required).map(|n| n.to_string()).collect();
        let numbers: Vec<usize> = (0..999).collect();
        work::count(&graph(&json!({ "required": names, "items": { "enum": numbers } })), &value)
    };
    assert_eq!(count(999).map(|work| work.applications), Some(bounds::SCHEMA_WORK));
    assert_eq!(count(1_000), None);
}

/// I248: each keyword that reads a text, or compares the value with large texts, is part of the work.
#[test]
fn work_counts_the_texts_that_keywords_read() {
    let work = |schema: &Value, value: &Value| work::count(&graph(schema), value).unwrap().applications;
    let text = Value::from("x".repeat(16_000));
    let plain = work(&json!({ "items": {}, "$ref": "#/$defs/a", "$defs": { "a": {} } }), &text);
    for (keyword, limit, each) in [
        ("minLength", json!(1), 1_000),
        ("maxLength", json!(1), 1_000),
        ("format", json!("uri"), 1_000),
        ("contentEncoding", json!("base64"), 4_000),
        ("contentMediaType", json!("application/json"), 8_000),
        ("const", text.clone(), 1_000),
        ("enum", json!([text, text]), 2_000),
        ("required", json!(["x".repeat(16_000)]), 1_000),
        ("dependentRequired", json!({ "a": ["x".repeat(16_000)] }), 1_000),
        ("dependencies", json!({ "a": ["x".repeat(16_000)] }), 1_000),
        ("properties", json!({ "x".repeat(16_000): {} }), 1_000),
        ("multipleOf", json!(0.1), 16),
    ] {
        let schema = json!({ "items": {}, "$ref": "#/$defs/a", "$defs": { "a": { keyword: limit } } });
        let counted = work(&schema, &text);
        assert!((each..each + 10).contains(&(counted - plain)), "{keyword}: {plain} {counted}");
    }
    // Up to 15 items are compared with each other one by one.
    let items = |count: usize| Value::from(vec![text.clone(); count]);
    for (count, each) in [(2, 2_000 * 2), (15, 15_000 * 15), (100, 100_000 * 15)] {
        let counted = work(&json!({ "uniqueItems": true }), &items(count));
        assert!((each..each + each / 100 + 10).contains(&counted), "{count}: {counted}");
    }
    // The name of a member is a value of its own.
    let named = json!({ "x".repeat(16_000): 1 });
    let schema = json!({ "propertyNames": { "maxLength": 9 }, "$ref": "#/$defs/a", "$defs": { "a": {} } });
    assert!(work(&schema, &named) > 1_000);
}

/// I248: the format `regex` compiles no text of a value, in any draft. A pattern that no check can reach is measured
/// like the others.
#[test]
fn texts_of_values_are_not_compiled_as_patterns() {
    let expensive = json!(r"(\p{L}{100}){100}".repeat(20));
    for draft in ["04", "06", "07"] {
        let draft = format!("http://json-schema.org/draft-{draft}/schema#");
        let regex = json!({ "$schema": draft, "format": "regex" }).to_string();
        Schemas::compile(&regex, "true").unwrap().check_input(&expensive).unwrap();
        Schemas::compile(&regex, "true").unwrap().check_input(&json!("(")).unwrap();
        let unused = json!({ "$schema": draft, "definitions": { "unused": { "pattern": "x{200000}" } } });
        assert_refused(&unused, "more than 4 MiB of states");
    }
}

/// I225: bound `schema_depth`.
#[test]
fn check_is_refused_beyond_its_depth() {
    // Each level of the value applies 64 subschemas: the schema of the items and one whole chain.
    let graph = graph(&chain(62, &json!({ "items": { "$ref": "#" } })));
    let levels = bounds::SCHEMA_DEPTH / 64;
    let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(work::count(&graph, &nested(levels)).map(|work| work.depth), Some(bounds::SCHEMA_DEPTH));
    assert_eq!(work::count(&graph, &nested(levels + 1)), None);
}

/// I252: the message about a value that does not fit can name a member of any length.
#[test]
fn message_about_a_value_has_a_bounded_length() {
    let named = json!({ "m".repeat(1 << 17): "x" });
    let numbers = json!({ "additionalProperties": { "type": "number" } }).to_string();
    let schemas = Schemas::compile(&numbers, &numbers).unwrap();
    for failure in [schemas.check_input(&named).unwrap_err(), schemas.check_output(&named).unwrap_err()] {
        assert_eq!(failure.message.len(), bounds::MESSAGE_BYTES);
    }
}

/// I248: keywords that read a whole text or a whole value are part of the work. Each keyword passes with the first
/// number of applications, and is refused with the second.
#[test]
fn keywords_that_read_texts_and_values_are_part_of_the_work() {
    let long = Value::from("x".repeat(1 << 20));
    let repeated = |keyword: Value, times: usize| json!({ "allOf": vec![keyword; times] });
    for (keyword, within, beyond) in [
        (json!({ "minLength": 5 }), 60, 64),
        (json!({ "maxLength": 5 }), 60, 64),
        (json!({ "format": "uri" }), 60, 64),
        (json!({ "contentEncoding": "base64" }), 15, 16),
        (json!({ "contentMediaType": "application/json" }), 7, 8),
    ] {
        assert!(work::count(&graph(&repeated(keyword.clone(), within)), &long).is_some(), "{keyword}");
        assert_eq!(work::count(&graph(&repeated(keyword.clone(), beyond)), &long), None, "{keyword}");
    }
    let constant = vec![7; 40_000];
    let compared = |items: usize| {
        let schema = json!({ "items": { "const": constant } });
        work::count(&graph(&schema), &Value::from(vec![0; items]))
    };
    assert!(compared(99).is_some());
    assert_eq!(compared(100), None);
    let name = "x".repeat(64_000);
    for of_name in [
        json!({ "required": [name] }),
        json!({ "properties": { (name.as_str()): true } }),
        json!({ "dependentRequired": { (name.as_str()): [] } }),
    ] {
        let searched =
            |items: usize| work::count(&graph(&json!({ "items": of_name })), &Value::from(vec![json!({}); items]));
        assert!(searched(990).is_some());
        assert_eq!(searched(1_000), None);
    }
}
