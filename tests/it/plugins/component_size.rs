//! Components that are refused because of their size, before anything is compiled.

use std::fmt::Write as _;

use serde_json::{Value, json};

use latchwork_core::model::bounds::{CORE_INSTANCES, MEMORIES, TABLES};

use crate::support::test_env::TestEnv;

/// Returns an untyped component that exports the function `go`. Its core module has these fields.
fn component(fields: &str) -> Vec<u8> {
    wat::parse_str(format!(
        "(component
           (core module $m {fields} (func (export \"go\")))
           (core instance $i (instantiate $m))
           (func (export \"go\") (canon lift (core func $i \"go\"))))"
    ))
    .expect("valid text")
}

/// Returns a component whose function calls another function `calls` times and keeps the results on its stack.
fn component_with_kept_results(calls: usize) -> Vec<u8> {
    let (calls, adds) = ("call 0 ".repeat(calls), "i64.add ".repeat(calls - 1));
    component(&format!("(func (result i64) i64.const 7) (func (result i64) {calls}{adds})"))
}

/// Returns a component that contains `levels` further components. Each level instantiates the component of the previous
/// level twice.
fn component_that_doubles(levels: u32) -> Vec<u8> {
    let mut text = String::from("(component $root (component $c0)");
    for level in 1..=levels {
        let before = level - 1;
        write!(text, "(component $c{level} (alias outer $root $c{before} (component $c)) (instance (instantiate $c)) (instance (instantiate $c)))").unwrap();
    }
    write!(text, "(instance (instantiate $c{levels})))").unwrap();
    wat::parse_str(text).expect("valid text")
}

/// Returns the exit code and the first problem of `latch plugin list` with this component.
fn load(component: &[u8], lines: &str) -> (i32, Value) {
    let place = TestEnv::configured(&format!("[[plugin]]\nname = \"big\"\nsource = \"big.wasm\"\n{lines}"), vec![]);
    std::fs::write(place.dir.join("big.wasm"), component).unwrap();
    let ran = place.latch(&["plugin", "list", "--json"]);
    (ran.code, ran.json()["error"].clone())
}

#[track_caller]
fn assert_refused(component: &[u8], lines: &str, says: &str) {
    let (code, error) = load(component, lines);
    assert_eq!((code, &error["code"]), (2, &json!("L0034")), "{error:#}");
    let message = error["problems"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains(says), "{error:#}");
}

/// Checks that `latch plugin check` reports that the component is not loaded. The check does not compile it either.
#[track_caller]
fn assert_found(component: &[u8], says: &str) {
    let place = TestEnv::configured("", vec![]);
    std::fs::write(place.dir.join("big.wasm"), component).unwrap();
    let ran = place.latch(&["plugin", "check", "big.wasm", "--json"]);
    assert_eq!(ran.code, 1, "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(says), "{}", ran.stdout);
}

/// I219: if the host did not refuse these components, the component of 120 KB would take 42 seconds to compile, and the
/// component of 500 bytes 40 minutes.
#[test]
fn component_that_is_slow_to_compile_is_refused() {
    assert_refused(&component_with_kept_results(40_000), "", "its function 1 at byte");
    assert_refused(&component_that_doubles(30), "", "instances of components and modules");
    assert_found(&component_with_kept_results(40_000), "its function 1 at byte");
    assert_found(&component_that_doubles(30), "instances of components and modules");
}

/// I219: the size of a component is a setting of its plugin.
#[test]
fn size_of_a_component_is_limited_by_its_setting() {
    let small = component("");
    let limit = |bytes| format!("limits = {{ component = \"{bytes}\" }}");
    assert_eq!(load(&small, &limit(small.len())).0, 0);
    assert_refused(&small, &limit(small.len() - 1), "limits.component");
}

/// I220: bounds `memories` and `tables`. If a component beyond these bounds were loaded, each of its calls would wait
/// for the whole pool of instances and then fail. Meanwhile the call would hold up the calls of all other plugins.
#[test]
fn untyped_component_that_cannot_be_instantiated_is_refused() {
    for (field, max, says) in [("(memory 1)", MEMORIES, "17 memories"), ("(table 1 funcref)", TABLES, "65 tables")] {
        // A module has at most 16 memories and 16 tables.
        let modules = |count: usize| {
            let modules: Vec<String> = (0..count.div_ceil(16))
                .map(|at| {
                    format!(
                        "(core module $n{at} {}) (core instance (instantiate $n{at}))",
                        field.repeat(16.min(count - 16 * at))
                    )
                })
                .collect();
            let text = format!(
                "(component {} (core module $m (func (export \"go\"))) (core instance $i (instantiate $m))
                   (func (export \"go\") (canon lift (core func $i \"go\"))))",
                modules.concat()
            );
            wat::parse_str(text).expect("valid text")
        };
        assert_eq!(load(&modules(max), "").0, 0, "{field}");
        assert_refused(&modules(max + 1), "", says);
    }
    let instances = |count: usize| {
        let more = "(core instance (instantiate $e))".repeat(count - 1);
        wat::parse_str(format!(
            "(component (core module $e) {more} (core module $m (func (export \"go\")))
               (core instance $i (instantiate $m)) (func (export \"go\") (canon lift (core func $i \"go\"))))"
        ))
        .expect("valid text")
    };
    assert_eq!(load(&instances(CORE_INSTANCES), "").0, 0);
    assert_refused(&instances(CORE_INSTANCES + 1), "", "65 modules");
}
