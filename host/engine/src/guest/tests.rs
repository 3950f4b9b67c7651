//! Tests of the limits of texts that guests choose: messages, names of functions, and last words.

use wasm_encoder::{
    CodeSection, ExportKind, ExportSection, Function, FunctionSection, Instruction, Module, NameMap, NameSection,
    TypeSection,
};
use wasmtime::{Engine, Instance, Store};

use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};

use crate::guest::bindings::import::types::{Applied, Error, ErrorCode};
use crate::guest::last_words::LastWords;
use crate::guest::{convert, fault};

/// I225: bound `message_bytes`.
#[test]
fn message_of_a_guest_is_truncated() {
    let truncated = |bytes: usize| {
        let error = Error {
            code: ErrorCode::InvalidInput,
            message: "m".repeat(bytes),
            retry_after_ms: None,
            detail: None,
            applied: Applied::No,
        };
        convert::failure(error).message.len()
    };
    assert_eq!(truncated(bounds::MESSAGE_BYTES), bounds::MESSAGE_BYTES);
    assert_eq!(truncated(bounds::MESSAGE_BYTES + 1), bounds::MESSAGE_BYTES);
    let fault = |bytes: usize| fault::failure(&wasmtime::Error::msg("m".repeat(bytes))).message.len();
    let prefix = fault(0);
    assert_eq!(fault(bounds::MESSAGE_BYTES - prefix), bounds::MESSAGE_BYTES);
    assert_eq!(fault(bounds::MESSAGE_BYTES), bounds::MESSAGE_BYTES);
}

/// Returns the error of a trap in a function with this name.
fn trap_in(name: &str) -> wasmtime::Error {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let (mut functions, mut exports, mut code) = (FunctionSection::new(), ExportSection::new(), CodeSection::new());
    functions.function(0);
    exports.export("go", ExportKind::Func, 0);
    let mut body = Function::new([]);
    body.instruction(&Instruction::Unreachable).instruction(&Instruction::End);
    code.function(&body);
    let (mut names, mut map) = (NameSection::new(), NameMap::new());
    map.append(0, name);
    names.functions(&map);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&exports).section(&code).section(&names);
    let engine = Engine::default();
    let module = wasmtime::Module::new(&engine, module.finish()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let go = instance.get_typed_func::<(), ()>(&mut store, "go").unwrap();
    go.call(&mut store, ()).unwrap_err()
}

/// I225: bound `function_name_bytes`. A component can contain function names of several megabytes.
#[test]
fn name_of_a_function_in_a_message_is_truncated() {
    let longest = "n".repeat(bounds::FUNCTION_NAME_BYTES);
    for name in [longest.clone(), format!("{longest}n"), "n".repeat(1 << 20)] {
        let failure = fault::failure(&trap_in(&name));
        assert_eq!(failure.code, Code::PluginTrap);
        assert!(failure.message.ends_with(&format!(" in {longest}")), "{failure}");
    }
}

/// I225: bound `last_words_bytes`. The end of the texts is kept.
#[test]
fn last_words_are_truncated_at_their_beginning() {
    let explained = |text: &str| {
        let words = LastWords::default();
        words.add(text.as_bytes());
        words.explain(Failure::new(Code::PluginTrap, ""), |kept, _| kept.to_vec()).message
    };
    let rest = "w".repeat(bounds::LAST_WORDS_BYTES - 1);
    assert!(explained(&format!("F{rest}")).ends_with(&format!("F{rest}")));
    let truncated = explained(&format!("F{rest}w"));
    assert!(truncated.ends_with(&format!("{rest}w")) && !truncated.contains('F'), "{truncated}");
}
