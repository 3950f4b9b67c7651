//! Tests of the limits of untyped components at their edges: the limit passes, and one more is refused.

use wasmtime::component::Val;

use latchwork_core::model::bounds;
use latchwork_core::model::error_docs;

use crate::engine::untyped::call_result::function_error;
use crate::engine::untyped::tests::load::{load, refusal_text, settings};
use crate::engine::untyped::ty::Ty;
use crate::engine::untyped::types::CallableFunction;

/// Component with a function that has one parameter of this type.
fn function_of(types: &str, ty: &str) -> String {
    format!("package a:b; interface i {{ {types} f: func(x: {ty}) -> u8; }} world w {{ export i; }}")
}

#[track_caller]
fn assert_edge(within: &str, beyond: &str, says: &str) {
    if let Err(error) = load(within, settings()) {
        panic!("{error}");
    }
    let text = refusal_text(beyond, settings(), error_docs::UNTYPED_UNSUITABLE);
    assert!(text.contains(says), "{text}");
}

/// I225: bound `untyped_functions`.
#[test]
fn functions_of_an_untyped_component_are_bounded() {
    let component = |count: usize| {
        let functions: Vec<_> = (0..count).map(|n| format!("fun{n}: func();")).collect();
        format!("package a:b; interface i {{ {} }} world w {{ export i; }}", functions.join(" "))
    };
    let most = bounds::UNTYPED_FUNCTIONS;
    assert_eq!(load(&component(most), settings()).unwrap().manifest.operators.len(), most);
    let text = refusal_text(&component(most + 1), settings(), error_docs::PLUGIN_MALFORMED);
    assert!(text.contains("more than 500 functions"), "{text}");
}

/// I225: bound `untyped_types`. The result and the tuple are types, too.
#[test]
fn types_of_an_untyped_function_are_bounded() {
    let tuple = |types: usize| function_of("", &format!("tuple<{}>", vec!["u16"; types - 2].join(", ")));
    assert_edge(&tuple(bounds::UNTYPED_TYPES), &tuple(bounds::UNTYPED_TYPES + 1), "at most 400 types");
}

/// I225: bound `untyped_name_bytes`. The name of the parameter counts, too.
#[test]
fn names_of_an_untyped_function_are_bounded() {
    let names = |bytes: usize| {
        let mut left = bytes - 1;
        let mut all = Vec::new();
        while left > 0 {
            let len = if left >= 200 { 100 } else { left };
            all.push(format!("n{:0>width$}", all.len(), width = len - 1));
            left -= len;
        }
        function_of(&format!("enum e {{ {} }}", all.join(", ")), "e")
    };
    let most = bounds::UNTYPED_NAME_BYTES;
    assert_edge(&names(most), &names(most + 1), "32768 bytes of names");
}

/// I225: bound `untyped_nesting`.
#[test]
fn nesting_of_an_untyped_type_is_bounded() {
    let nested =
        |levels: usize| function_of("", &(1..levels).fold("u16".to_owned(), |inner, _| format!("option<{inner}>")));
    assert_edge(&nested(bounds::UNTYPED_NESTING), &nested(bounds::UNTYPED_NESTING + 1), "nested more than 14 deep");
}

/// I225: bound `untyped_value_bytes`.
#[test]
fn values_of_an_untyped_answer_are_bounded() {
    let most = bounds::UNTYPED_VALUE_BYTES / size_of::<Val>();
    assert_eq!(CallableFunction::hostcall_fuel(most as u32), most * size_of::<Val>());
    assert_eq!(CallableFunction::hostcall_fuel(most as u32 + 1), bounds::UNTYPED_VALUE_BYTES);
    assert_eq!(CallableFunction::hostcall_fuel(u32::MAX), bounds::UNTYPED_VALUE_BYTES);
}

/// I225: bound `untyped_error_bytes`.
#[test]
fn error_of_an_untyped_function_is_truncated() {
    let message = |bytes: usize| {
        let text = Val::String("e".repeat(bytes));
        function_error(Some(&Ty::String), Some(&text), 1 << 20).message
    };
    let longest = format!(": {}", "e".repeat(bounds::UNTYPED_ERROR_BYTES));
    assert!(message(bounds::UNTYPED_ERROR_BYTES).ends_with(&longest));
    assert!(message(bounds::UNTYPED_ERROR_BYTES + 1).ends_with(&longest));
}
