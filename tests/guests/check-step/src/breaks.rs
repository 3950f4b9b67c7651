//! Steps that break one rule each.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::latchwork::plugin::types::{Applied, Error, ErrorCode};
use crate::latchwork::plugin::{clock, events, log, tools};
use crate::{Answer, build};

/// Makes two calls. Breaks D051 if the case has one answer, and D052 if the answers of the case are for other calls.
pub(crate) fn asks_twice(input: Value) -> Answer {
    tools::call("Web.Fetch", &input.to_string(), None)?;
    tools::call("File.Read", &input.to_string(), None)?;
    Ok(json!({ "ok": true }))
}

/// Breaks D055: the output does not match the output schema.
pub(crate) fn gives_something_else(_: Value) -> Answer {
    Ok(json!({ "answer": 42 }))
}

/// Breaks D056: the step traps if the input has no `items`.
pub(crate) fn traps(input: Value) -> Answer {
    Ok(json!({ "ok": first_of_none(&input) }))
}

#[inline(never)]
fn first_of_none(input: &Value) -> u64 {
    match black_box(input["items"].as_array()) {
        Some(items) => items.len() as u64,
        None => {
            log::write(log::Level::Error, "panicked at breaks.rs:31: the list has no items");
            core::arch::wasm32::unreachable()
        }
    }
}

/// Breaks D057: the step does not end.
pub(crate) fn never_ends(_: Value) -> Answer {
    loop {
        black_box(());
    }
}

/// Breaks D058: the step exceeds its memory limit.
pub(crate) fn wants_all_memory(_: Value) -> Answer {
    let mut all = Vec::new();
    loop {
        all.push(black_box(vec![1u8; 1 << 20]));
    }
}

/// Breaks D059: the step exceeds its output limit.
pub(crate) fn gives_too_much(_: Value) -> Answer {
    Ok(json!({ "ok": "x".repeat((1 << 20) + 1) }))
}

/// Breaks D060: an event needs a name.
pub(crate) fn announces_nothing(_: Value) -> Answer {
    events::emit("", "{}");
    Ok(json!({ "ok": true }))
}

/// Breaks D061: the step overflows its stack.
pub(crate) fn recurses_without_end(_: Value) -> Answer {
    Ok(json!({ "ok": deep(u64::MAX) }))
}

/// Breaks D062 for a large `depth`: the step needs more than half of the stack.
pub(crate) fn recurses_far(input: Value) -> Answer {
    Ok(json!({ "ok": deep(input["depth"].as_u64().unwrap_or(0)) }))
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    if depth == 0 { 0 } else { black_box(deep(black_box(depth - 1))) + 1 }
}

/// Breaks D063: the step traps if the tool fails.
pub(crate) fn relies_on_its_tool(input: Value) -> Answer {
    let page = tools::call("Web.Fetch", &input.to_string(), None);
    Ok(json!({ "ok": must(page.ok()) }))
}

#[inline(never)]
fn must(text: Option<String>) -> String {
    match black_box(text) {
        Some(text) => text,
        None => core::arch::wasm32::unreachable(),
    }
}

/// Breaks D064: the operator is declared pure, but its output depends on the clock.
pub(crate) fn looks_at_the_clock(_: Value) -> Answer {
    Ok(json!({ "ok": clock::now().seconds }))
}

/// Breaks D065: two builds of the same sources return different results.
pub(crate) fn knows_its_build(_: Value) -> Answer {
    Ok(json!({ "ok": build() }))
}

/// Breaks D067: the step makes another call if the first answer is slow.
pub(crate) fn loses_patience(input: Value) -> Answer {
    let before = clock::now();
    tools::call("Web.Fetch", &input.to_string(), None)?;
    if clock::now().seconds - before.seconds > 2 {
        tools::call("Cache.Warm", &input.to_string(), None)?;
    }
    Ok(json!({ "ok": true }))
}

/// Breaks D068: the step needs almost all of its memory limit.
pub(crate) fn is_nearly_full(_: Value) -> Answer {
    let table = black_box(vec![1u8; 61 << 20]);
    Ok(json!({ "ok": table.len() }))
}

/// Breaks D069: the step fails, but the case expects a result.
pub(crate) fn fails_for_no_reason(_: Value) -> Answer {
    Err(Error {
        code: ErrorCode::InvalidInput,
        message: "there is no weather".into(),
        retry_after_ms: None,
        detail: None,
        applied: Applied::No,
    })
}

/// Breaks D070: the seed of a map is an address, so the order of the output depends on the memory.
pub(crate) fn walks_a_map(_: Value) -> Answer {
    let map: HashMap<u32, ()> = (0..40).map(|n| (n, ())).collect();
    Ok(json!({ "ok": map.into_keys().collect::<Vec<_>>() }))
}

/// Breaks D071: the step changes a global variable, so a second run in the same instance differs.
pub(crate) fn counts_its_runs(_: Value) -> Answer {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    Ok(json!({ "ok": RUNS.fetch_add(1, Ordering::Relaxed) }))
}
