use serde_json::json;

use crate::plan::bindings::*;

fn output(step: &str, pointer: &str) -> Reference {
    Reference::Output { step: StepId::new(step), pointer: pointer.to_owned() }
}

fn outcome(step: &str) -> Reference {
    Reference::Outcome { step: StepId::new(step) }
}

/// Resolves the bindings of `payload`. `text` is the output of step `s1`, and `out-1` is the id of the outcome
/// of `s2`.
fn resolve_with(payload: &Value, text: &str) -> Result<Value, String> {
    resolve(payload, &|reference| match reference.step().as_str() {
        "s1" => Some(Cow::Borrowed(text.as_bytes())),
        "s2" => Some(Cow::Owned(b"out-1".to_vec())),
        _ => None,
    })
    .map_err(|failure| {
        assert_eq!(failure.code, Code::InvalidInput);
        failure.message
    })
}

fn part_of(text: &str, pointer: &str) -> Result<Value, String> {
    resolve_with(&json!({ "$ref": format!("s1#{pointer}") }), text)
}

#[test]
fn bindings_are_found_at_any_depth() {
    let payload = json!({
        "a": { "$ref": "s1#/summary" },
        "b": [1, [{ "c/d~": { "$outcome": "s2" } }], "$ref"],
        "c": { "$reference": "s1#" },
        "d": { "$ref": "s1" },
    });
    assert_eq!(references(&payload), [output("s1", "/summary"), outcome("s2")]);
    let found = binding_locations(&payload);
    let at: Vec<_> = found.iter().map(|place| place.at.as_str()).collect();
    assert_eq!(at, ["/a", "/b/1/0/c~1d~0", "/d"]);
    assert!(found[2].binding.is_err());
    assert_eq!(references(&json!({ "$ref": "s1#" })), [output("s1", "")]);
}

#[test]
fn malformed_bindings_say_why() {
    for (value, why) in [
        (json!({ "$ref": "s1" }), "no `#`"),
        (json!({ "$ref": "#/a" }), "step_id"),
        (json!({ "$ref": "s 1#/a" }), "step_id"),
        (json!({ "$ref": "s1#a" }), "not a JSON pointer"),
        (json!({ "$ref": "s1#/a~2" }), "not a JSON pointer"),
        (json!({ "$ref": "s1#/a~" }), "not a JSON pointer"),
        (json!({ "$ref": 1 }), "must be a string"),
        (json!({ "$ref": "s1#", "x": 1 }), "any other key"),
        (json!({ "$ref": "s1#", "$outcome": "s1" }), "any other key"),
        (json!({ "$outcome": "s1#/a" }), "step_id"),
        (json!({ "$outcome": null }), "must be a string"),
    ] {
        let message = Reference::parse(&value).unwrap().unwrap_err().0;
        assert!(message.contains(why), "{value}: {message}");
        assert!(resolve_with(&value, "1").unwrap_err().contains(why));
    }
}

#[test]
fn bindings_are_replaced_and_the_rest_stays() {
    let payload = json!({ "to": { "$ref": "s1#/to/0" }, "draft": [{ "$outcome": "s2" }], "n": 1, "x": { "y": null } });
    let resolved = resolve_with(&payload, r#"{"to": ["a@example.org"], "n": 7}"#).unwrap();
    assert_eq!(resolved, json!({ "to": "a@example.org", "draft": ["out-1"], "n": 1, "x": { "y": null } }));
}

// The example pointers of RFC 6901, section 5, find the values that the RFC states.
#[test]
fn pointers_of_the_rfc() {
    let text = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
    assert_eq!(part_of(text, "").unwrap(), serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(part_of(text, "/foo").unwrap(), json!(["bar", "baz"]));
    assert_eq!(part_of(text, "/foo/0").unwrap(), json!("bar"));
    for (pointer, number) in [
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ("/k\"l", 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ] {
        assert_eq!(part_of(text, pointer).unwrap(), json!(number), "{pointer}");
    }
    // The token `~01` means the key `~1`, not the key `/`.
    assert_eq!(part_of(r#"{"~1":1,"/":2}"#, "/~01").unwrap(), json!(1));
}

#[test]
fn what_is_missing_is_named() {
    let text = r#"{"a": [1, {"b": "x"}]}"#;
    for (pointer, named) in [
        ("/z", "/z"),
        ("/a/2", "/a/2"),
        ("/a/-", "/a/-"),
        ("/a/01", "/a/01"),
        ("/a/+1", "/a/+1"),
        ("/a/99999999999999999999", "/a/9"),
        ("/a/1/b/c", "/a/1/b/c"),
        ("/a/length", "/a/length"),
        ("/A", "/A"),
    ] {
        let message = part_of(text, pointer).unwrap_err();
        assert!(message.contains(named) && message.contains("s1"), "{pointer}: {message}");
    }
    let nothing = resolve_with(&json!({ "$ref": "s9#/a" }), "1").unwrap_err();
    assert!(nothing.contains("step s9 has no output"), "{nothing}");
    let nothing = resolve_with(&json!({ "$outcome": "s9" }), "1").unwrap_err();
    assert!(nothing.contains("step s9 has no outcome"), "{nothing}");
}

#[test]
fn only_the_part_needs_a_canonical_form() {
    let text = r#"{"big": 9007199254740993, "ok": [1.0], "twice": 1, "twice": 2, "inner": {"k": 1, "k": 2}, "huge": 1e400, "half": "\ud800"}"#;
    assert_eq!(part_of(text, "/ok").unwrap(), json!([1]));
    for (pointer, why) in [
        ("/big", "9007199254740993"),
        ("/twice", "twice"),
        ("/inner", "\"k\" appears twice"),
        ("/inner/k", "\"k\" appears twice"),
        ("/huge", "1e400"),
        ("/half", "surrogate"),
        ("", "9007199254740993"),
    ] {
        let message = part_of(text, pointer).unwrap_err();
        assert!(message.contains(why), "{pointer}: {message}");
    }
    assert!(part_of("{", "/a").unwrap_err().contains("not JSON"));
}

#[test]
fn what_is_put_in_is_data() {
    let text = r##"{"note": {"$ref": "s2#/secret"}, "list": [{"$outcome": "s2"}]}"##;
    let resolved = resolve_with(&json!({ "x": { "$ref": "s1#" } }), text).unwrap();
    assert_eq!(resolved, json!({ "x": { "note": { "$ref": "s2#/secret" }, "list": [{ "$outcome": "s2" }] } }));
}

#[test]
fn the_result_has_a_canonical_form() {
    let nest = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let payload = |levels: usize| (0..levels).fold(json!({ "$ref": "s1#" }), |inner, _| json!([inner]));
    assert!(resolve_with(&payload(30), &nest(canon::JSON_NESTING - 30)).is_ok());
    assert!(resolve_with(&payload(31), &nest(canon::JSON_NESTING - 30)).unwrap_err().contains("deeper"));
    let resolved = resolve_with(&json!({ "b": 1, "a": { "$ref": "s1#" } }), "[1.50, -0]").unwrap();
    assert_eq!(canon::value_to_canonical(&resolved), br#"{"a":[1.5,0],"b":1}"#);
}
