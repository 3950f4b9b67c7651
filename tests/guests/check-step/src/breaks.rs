//! Steps that break one rule each.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::latchwork::plugin::types::{Applied, Error, ErrorCode};
use crate::latchwork::plugin::{clock, events, tools};
use crate::{Answer, build};

/// Breaks D051 if the case has one answer, and D052 if it has other answers.
pub(crate) fn asks_twice(input: Value) -> Answer {
    tools::call("Web.Fetch", &input.to_string(), None)?;
    tools::call("File.Read", &input.to_string(), None)?;
    Ok(json!({ "ok": true }))
}

/// Breaks D055.
pub(crate) fn gives_something_else(_: Value) -> Answer {
    Ok(json!({ "answer": 42 }))
}

/// Breaks D056.
pub(crate) fn traps(input: Value) -> Answer {
    Ok(json!({ "ok": first_of_none(&input) }))
}

#[inline(never)]
fn first_of_none(input: &Value) -> u64 {
    match black_box(input["items"].as_array()) {
        Some(items) => items.len() as u64,
        None => core::arch::wasm32::unreachable(),
    }
}

/// Breaks D057.
pub(crate) fn never_ends(_: Value) -> Answer {
    loop {
        black_box(());
    }
}

/// Breaks D058.
pub(crate) fn wants_all_memory(_: Value) -> Answer {
    let mut all = Vec::new();
    loop {
        all.push(black_box(vec![1u8; 1 << 20]));
    }
}

/// Breaks D059.
pub(crate) fn gives_too_much(_: Value) -> Answer {
    Ok(json!({ "ok": "x".repeat((1 << 20) + 1) }))
}

/// Breaks D060.
pub(crate) fn announces_nothing(_: Value) -> Answer {
    events::emit("", "{}");
    Ok(json!({ "ok": true }))
}

/// Breaks D061.
pub(crate) fn recurses_without_end(_: Value) -> Answer {
    Ok(json!({ "ok": deep(u64::MAX) }))
}

/// Breaks D062.
pub(crate) fn recurses_far(input: Value) -> Answer {
    Ok(json!({ "ok": deep(input["depth"].as_u64().unwrap_or(0)) }))
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    if depth == 0 { 0 } else { black_box(deep(black_box(depth - 1))) + 1 }
}

/// Breaks D063.
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

/// Breaks D064.
pub(crate) fn looks_at_the_clock(_: Value) -> Answer {
    Ok(json!({ "ok": clock::now().seconds }))
}

/// Breaks D065.
pub(crate) fn knows_its_build(_: Value) -> Answer {
    Ok(json!({ "ok": build() }))
}

/// Breaks D067.
pub(crate) fn loses_patience(input: Value) -> Answer {
    let before = clock::now();
    tools::call("Web.Fetch", &input.to_string(), None)?;
    if clock::now().seconds - before.seconds > 2 {
        tools::call("Cache.Warm", &input.to_string(), None)?;
    }
    Ok(json!({ "ok": true }))
}

/// Breaks D068.
pub(crate) fn is_nearly_full(_: Value) -> Answer {
    let table = black_box(vec![1u8; 61 << 20]);
    Ok(json!({ "ok": table.len() }))
}

/// Breaks D069.
pub(crate) fn fails_for_no_reason(_: Value) -> Answer {
    Err(Error {
        code: ErrorCode::InvalidInput,
        message: "there is no weather".into(),
        retry_after_ms: None,
        detail: None,
        applied: Applied::No,
    })
}

/// Breaks D070: the seed of a map is an address.
pub(crate) fn walks_a_map(_: Value) -> Answer {
    let map: HashMap<u32, ()> = (0..40).map(|n| (n, ())).collect();
    Ok(json!({ "ok": map.into_keys().collect::<Vec<_>>() }))
}

/// Breaks D071.
pub(crate) fn counts_its_runs(_: Value) -> Answer {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    Ok(json!({ "ok": RUNS.fetch_add(1, Ordering::Relaxed) }))
}
