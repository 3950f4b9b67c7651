//! Tool that follows a script such as `{"do": [{"http": {…}}, {"secret": "TOKEN"}, "trap"]}`. The result has
//! one value per action.
//!
//! `compensate` follows the actions in `undo`, if the script has such a list.
//!
//! In texts, `$NAME` is replaced by the value that `{"secret": "NAME"}` returned. `{"change": {…}}` reports a
//! state change. A change of type `script` is verified by the script in its `external_ref`.

wit_bindgen::generate!({ path: "../../../wit", world: "tool-accountable" });

mod world;

use std::hint::black_box;

use exports::latchwork::plugin::{compensate, invoke, plugin, reconcile, verify};
use latchwork::plugin::{config, context, invocation, kv, log, secrets, types};
use serde_json::{Value, json};

struct Hostile;

impl plugin::Guest for Hostile {
    fn describe() -> plugin::Manifest {
        let operator = |name: &str, effect, determinism| plugin::Operator {
            name: name.into(),
            description: "Follows a script.".into(),
            input_schema: "true".into(),
            output_schema: r#"{"type":"array"}"#.into(),
            effects: vec![effect],
            determinism,
            outcome_type: None,
            outcome_status: None,
            resolution: plugin::Resolution { idempotent_by_key_seconds: 0, settling_ms: 0 },
            limits: plugin::LimitsWanted { memory_bytes: None, timeout_ms: Some(20_000), output_bytes: None },
        };
        use plugin::{Determinism, Effect};
        plugin::Manifest {
            version: "1.0.0".into(),
            operators: vec![
                operator("World.Look", Effect::ReadOnly, Determinism::External),
                operator("World.Change", Effect::ExternalSend, Determinism::External),
                operator("World.Write", Effect::ExternalWrite, Determinism::External),
                operator("World.Keep", Effect::InternalWrite, Determinism::External),
                operator("World.Model", Effect::ProduceOutcome, Determinism::Stable),
                operator("World.Outcome", Effect::ProduceOutcome, Determinism::External),
                operator("World.Pure", Effect::ReadOnly, Determinism::Pure),
            ],
        }
    }
}

impl invoke::Guest for Hostile {
    fn invoke(_operator: String, args: String) -> Result<types::ToolOutput, types::Error> {
        let changes = serde_json::from_str::<Value>(&args).map(|script| changes(&script)).unwrap_or_default();
        let model = serde_json::from_str::<Value>(&args).ok().and_then(|script| model(&script));
        follow(&args).map(|result| types::ToolOutput { state_changes: changes, usage: model, ..output(result) })
    }
}

/// Returns the usage of a model whose name has the length in the script.
fn model(script: &Value) -> Option<types::Usage> {
    let bytes = script["do"].as_array()?.iter().find_map(|action| action.get("model")?.as_u64())?;
    Some(types::Usage {
        model: Some("m".repeat(bytes as usize)),
        provider_trace_id: None,
        tokens_in: 1,
        tokens_out: 1,
        cost_micro_usd: 0,
        credits: 0,
    })
}

/// Returns the state changes listed in the script.
fn changes(script: &Value) -> Vec<types::StateChange> {
    let actions = script["do"].as_array().into_iter().flatten();
    let said = actions.filter_map(|action| action.get("change"));
    said.map(|change| {
        let text = |key: &str| change[key].as_str().map(str::to_owned);
        types::StateChange {
            resource_type: text("type").unwrap_or_default(),
            resource_id: text("id").unwrap_or_default(),
            operation: text("operation").unwrap_or_else(|| "update".into()),
            version: text("version"),
            etag: text("etag"),
            external_ref: text("ref"),
        }
    })
    .collect()
}

impl reconcile::Guest for Hostile {
    fn reconcile(_operator: String, _key: String, args: String) -> Result<reconcile::Verdict, types::Error> {
        let result = follow(&args)?;
        Ok(match result.as_str() {
            "[]" => reconcile::Verdict::DidNotHappen,
            _ => reconcile::Verdict::Happened(output(result)),
        })
    }
}

impl verify::Guest for Hostile {
    fn verify(_operator: String, change: types::StateChange) -> Result<verify::Finding, types::Error> {
        if let Some(script) = change.external_ref.as_ref().filter(|_| change.resource_type == "script") {
            let said = follow(script)?;
            return Ok(if said == "[]" { verify::Finding::Confirmed } else { verify::Finding::Mismatch(said) });
        }
        let now = world::read(&change.resource_id, false);
        Ok(match now.as_str() {
            Some(text) if Some(text) == change.version.as_deref() => verify::Finding::Confirmed,
            _ => verify::Finding::Mismatch(now.to_string()),
        })
    }
}

impl compensate::Guest for Hostile {
    fn compensate(
        _operator: String,
        _key: String,
        args: String,
        result: String,
    ) -> Result<types::ToolOutput, types::Error> {
        let script: Value = serde_json::from_str(&args).expect("the host gives JSON");
        match script.get("undo") {
            Some(undo) => follow(&json!({ "do": undo }).to_string()).map(output),
            None => follow(&result).map(output),
        }
    }
}

fn output(result: String) -> types::ToolOutput {
    types::ToolOutput { result, receipt: None, state_changes: vec![], usage: None }
}

/// Follows a script. Returns its result, or the fault that ends it.
fn follow(script: &str) -> Result<String, types::Error> {
    let script: Value = serde_json::from_str(script).expect("the host gives JSON");
    let mut known = Vec::new();
    let mut answers = Vec::new();
    for action in script["do"].as_array().into_iter().flatten() {
        let (name, argument) = match action {
            Value::String(name) => (name.as_str(), &Value::Null),
            Value::Object(map) => map.iter().next().map(|(name, value)| (name.as_str(), value)).expect("an action"),
            other => panic!("not an action: {other}"),
        };
        if let Some(end) = fault(name, argument) {
            return end;
        }
        answers.push(perform(name, argument, &mut known));
    }
    Ok(Value::from(answers).to_string())
}

/// Performs an action that ends the script. Returns `None` for any other action.
fn fault(name: &str, argument: &Value) -> Option<Result<String, types::Error>> {
    match name {
        "trap" => core::arch::wasm32::unreachable(),
        "spin" => loop {
            black_box(());
        },
        "allocate" => {
            let mut all = Vec::new();
            loop {
                all.push(black_box(vec![1u8; 1 << 20]));
            }
        }
        "giant" => Some(Ok(format!("[\"{}\"]", "x".repeat(argument.as_u64().expect("a size") as usize)))),
        "malformed" => Some(Ok("[1,".into())),
        "ambiguous" => Some(Ok("[{\"v\":1,\"v\":2}]".into())),
        "giant-error" => Some(Err(types::Error {
            code: types::ErrorCode::InvalidInput,
            message: String::new(),
            retry_after_ms: None,
            detail: Some(format!("\"{}\"", "x".repeat(argument.as_u64().expect("a size") as usize - 2))),
            applied: types::Applied::No,
        })),
        "schema" => Some(Ok("{}".into())),
        "exception" | "denied" => Some(Err(types::Error {
            code: types::ErrorCode::InvalidInput,
            message: "KeyError: 'name'".into(),
            retry_after_ms: None,
            detail: Some(json!({ (format!("latchwork:{name}")): { "traceback": "in f" } }).to_string()),
            applied: types::Applied::Unknown,
        })),
        "error" => Some(Err(types::Error {
            code: types::ErrorCode::RateLimit,
            message: "as told".into(),
            retry_after_ms: Some(7),
            detail: None,
            applied: if argument == "no" { types::Applied::No } else { types::Applied::Unknown },
        })),
        _ => None,
    }
}

/// Performs an action and returns its value. `known` has the names and values of the secrets that earlier
/// actions got.
fn perform(name: &str, argument: &Value, known: &mut Vec<(String, String)>) -> Value {
    let fill = |text: &str| known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    let text = |key: &str| fill(argument[key].as_str().unwrap_or_default());
    match name {
        "http" => {
            let headers = argument["headers"].as_object().into_iter().flatten();
            let headers = headers.map(|(name, value)| (name.clone(), fill(value.as_str().expect("a text"))));
            let body = argument["body"].as_array().into_iter().flatten();
            let body = body.map(|piece| fill(piece.as_str().expect("a text")));
            world::http(&text("method"), &text("url"), &headers.collect::<Vec<_>>(), body.collect())
        }
        "cut" => {
            // Sends each half of the text as a separate piece of the body, so a placeholder in the middle of the text
            // is split.
            let whole = text("text");
            let (a, b) = whole.split_at(whole.len() / 2);
            world::http("POST", &text("url"), &[], vec![a.to_owned(), b.to_owned()])
        }
        "requests" => world::requests(&text("url"), argument["count"].as_u64().expect("a number")),
        "pathless" => world::pathless(argument.as_u64().expect("a number")),
        "lookups" => world::lookups(&text("host"), argument["count"].as_u64().expect("a number")),
        "write" => world::write(&text("path"), &text("text")),
        "read" => world::read(&text("path"), argument["follow"] == true),
        "tcp" => world::tcp(&text("host"), argument["port"].as_u64().expect("a port") as u16, &text("text")),
        "secret" => {
            let name = argument.as_str().expect("a name");
            match secrets::get(name) {
                Ok(value) => {
                    known.push((format!("${name}"), value.clone()));
                    json!(value)
                }
                Err(error) => json!({ "error": format!("{error:?}") }),
            }
        }
        "kv-set" => match kv::set(&text("key"), text("value").as_bytes()) {
            Ok(()) => json!(true),
            Err(error) => json!({ "error": format!("{error:?}") }),
        },
        "kv-get" => match kv::get(&text("key")) {
            Ok(value) => json!(value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) => json!({ "error": format!("{error:?}") }),
        },
        "kv-fill" => fill_map(argument),
        "kv-delete" => match kv::delete(&text("key")) {
            Ok(existed) => json!(existed),
            Err(error) => json!({ "error": format!("{error:?}") }),
        },
        "config" => json!(config::get(argument.as_str().expect("a key"))),
        "context" => {
            let (step, call) = (context::get(), invocation::get());
            json!([step.job_id, call.slot, call.external_key, call.attempt, call.tries_before, call.timeout_ms])
        }
        "print" => {
            world::print(&text("text"));
            log::write(log::Level::Warn, &text("text"));
            json!(true)
        }
        "sleep" => {
            world::sleep(argument.as_u64().expect("milliseconds"));
            json!(true)
        }
        "change" | "model" => json!(true),
        "open" => world::open(&text("path"), argument["count"].as_u64().expect("a number")),
        "list" => world::list(&text("path"), argument["count"].as_u64().expect("a number")),
        "fields" => world::fields(argument.as_u64().expect("a number")),
        "field" => world::field(argument.as_u64().expect("a number")),
        "sockets" => world::sockets(argument.as_u64().expect("a number")),
        other => use_up(other, argument),
    }
}

/// Performs an action that uses up what a call may have, or waits for it.
fn use_up(name: &str, argument: &Value) -> Value {
    let text = |key: &str| argument[key].as_str().unwrap_or_default();
    let number = |key: &str| argument[key].as_u64().expect("a number");
    match name {
        "fill" => world::fill(text("path"), text("how"), number("bytes")),
        "entries" => world::entries(text("path"), number("count")),
        "ready" => world::ready(text("url")),
        other => panic!("told to do {other}"),
    }
}

/// Sets keys to values of the given size until the host refuses one.
fn fill_map(argument: &Value) -> Value {
    let number = |key: &str| argument[key].as_u64().expect("a number") as usize;
    let value = vec![b'v'; number("bytes")];
    for made in 0..number("count") {
        if let Err(error) = kv::set(&format!("k{made:04}"), &value) {
            return json!({ "made": made, "error": format!("{error:?}") });
        }
    }
    json!({ "made": number("count") })
}

export!(Hostile);
