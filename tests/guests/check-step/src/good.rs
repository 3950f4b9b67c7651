//! Steps that break no rule.

use serde_json::{Value, json};

use crate::latchwork::plugin::tools::CallRequest;
use crate::latchwork::plugin::{clock, events, log, rng, tools};
use crate::{Answer, build};

/// Uses every host function that a step may call.
pub(crate) fn flow(input: Value) -> Answer {
    let before = clock::now();
    let page = tools::call("Web.Fetch", &json!({ "url": input["url"] }).to_string(), None)?;
    let request = |path: &str| CallRequest {
        operator: "File.Read".into(),
        args: json!({ "path": path }).to_string(),
        action_key: None,
    };
    let files = tools::call_all(&["a", "b", "c"].map(request));
    let files = files.into_iter().collect::<Result<Vec<_>, _>>()?;
    events::emit("read", &json!({ "files": files.len() }).to_string());
    log::write(log::Level::Info, "logs are not compared");
    let after = clock::now();
    let id = rng::next_u32();
    Ok(json!({ "ok": true, "page": page, "id": id, "at": [before.seconds, after.seconds, after.nanoseconds] }))
}

/// Returns a result that depends only on the input.
pub(crate) fn pure(input: Value) -> Answer {
    log::write(log::Level::Info, "doubles");
    Ok(json!({ "ok": input["n"].as_i64().unwrap_or(0) * 2 }))
}

/// Returns the time that a tool call took. The control flow of the step does not depend on this time.
pub(crate) fn timed(_: Value) -> Answer {
    let before = clock::now();
    let answer = tools::call("Web.Fetch", "{}", None);
    Ok(json!({ "ok": answer.is_ok(), "seconds": clock::now().seconds - before.seconds }))
}

/// Behaves differently in different builds: build 1 calls with other arguments, build 2 emits another event,
/// and build 3 returns another result.
pub(crate) fn versioned(input: Value) -> Answer {
    let args = json!({ "do": [], "note": if build() == 1 { "new" } else { "old" } });
    tools::call("World.Look", &args.to_string(), None)?;
    let payload = json!({ "n": input["n"], "is_new": build() == 2 });
    events::emit("looked", &payload.to_string());
    Ok(json!({ "ok": true, "id": rng::next_u32(), "build": if build() == 3 { 3 } else { 0 } }))
}

/// Seeds a generator in the first run of its instance, and returns the random number that follows.
pub(crate) fn draws(_: Value) -> Answer {
    static SEED: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    SEED.get_or_init(rng::next_u32);
    Ok(json!({ "ok": true, "number": rng::next_u32() }))
}
