//! Step that performs the action named in its input, such as `{"do": "spin"}`.

wit_bindgen::generate!({ path: "../../../wit", world: "step" });

use std::hint::black_box;

use exports::latchwork::plugin::{plugin, run};
use latchwork::plugin::{clock, context, events, log, rng, tools, types};
use serde_json::{Value, json};

struct Hostile;

impl plugin::Guest for Hostile {
    fn describe() -> plugin::Manifest {
        plugin::Manifest {
            version: "1.2.3".into(),
            operators: vec![plugin::Operator {
                name: "Hostile.Do".into(),
                description: "Performs the action in its input.".into(),
                input_schema: r#"{"type":"object","required":["do"]}"#.into(),
                output_schema: r#"{"type":"object"}"#.into(),
                effects: vec![plugin::Effect::ProduceOutcome],
                determinism: plugin::Determinism::Pure,
                outcome_type: Some("Draft.Mischief".into()),
                outcome_status: Some("draft".into()),
                resolution: plugin::Resolution { idempotent_by_key_seconds: 0, settling_ms: 0 },
                limits: plugin::LimitsWanted { memory_bytes: None, timeout_ms: None, output_bytes: None },
            }],
        }
    }
}

/// Number of runs in this instance. A value above 1 shows that an instance was shared.
static mut RUNS: u32 = 0;

impl run::Guest for Hostile {
    fn run(operator: String, input: String) -> Result<String, types::Error> {
        let input: Value = serde_json::from_str(&input).expect("the host gives JSON");
        let n = input["n"].as_u64().unwrap_or(0);
        let answer = match input["do"].as_str().expect("the schema was checked") {
            "good" => good(&operator),
            "work" => json!({ "sum": (0..n).fold(0u64, |sum, round| black_box(sum.rotate_left(5) ^ round)) % 2 }),
            "spin" => loop {
                black_box(());
            },
            "allocate" => {
                let mut all = Vec::new();
                loop {
                    all.push(black_box(vec![1u8; 1 << 20]));
                }
            }
            "recurse" => json!({ "depth": recurse_without_end(black_box(1)) }),
            "trap" => trap_here(),
            "giant" => return Ok("\"".repeat(usize::try_from(n).expect("fits"))),
            "lie" => return Ok(lie()),
            "malformed" => return Ok("{\"half\":".into()),
            "not-utf8" => return Ok(unsafe { String::from_utf8_unchecked(vec![b'"', 0xff, 0xfe, b'"']) }),
            "schema" => json!("a string where an object is promised"),
            "flood" => {
                for i in 0..n {
                    log::write(log::Level::Trace, &i.to_string());
                }
                json!({ "wrote": n })
            }
            "random" => json!({ "got": rng::bytes(u32::try_from(n).expect("fits")).len() }),
            "error" => {
                return Err(types::Error {
                    code: types::ErrorCode::InvalidInput,
                    message: "as told".into(),
                    retry_after_ms: Some(5),
                    detail: Some("not JSON".into()),
                    applied: types::Applied::No,
                });
            }
            "call" => match tools::call("Some.Tool", "{\"x\":1}", Some("key")) {
                Ok(text) => json!({ "ok": text }),
                Err(error) => json!({ "err": format!("{:?}", error.code), "detail": error.detail }),
            },
            "call-all" => call_all(n),
            "emit" => emit(&input, n.max(1)),
            other => panic!("told to do {other}"),
        };
        Ok(answer.to_string())
    }
}

/// Returns values of the host's interfaces.
fn good(operator: &str) -> Value {
    let runs = unsafe {
        RUNS += 1;
        RUNS
    };
    let now = clock::now();
    json!({
        "operator": operator,
        "step": context::get().step_id,
        "runs": runs,
        "now": [now.seconds, now.nanoseconds],
        "rng": [rng::next_u32(), rng::below(6), rng::bytes(2).len()],
    })
}

/// Makes `n` concurrent calls.
fn call_all(n: u64) -> Value {
    let call = |i: u64| tools::CallRequest { operator: "Some.Tool".into(), args: i.to_string(), action_key: None };
    let answers = tools::call_all(&(0..n).map(call).collect::<Vec<_>>());
    json!({ "answers": answers.iter().map(|answer| answer.as_ref().ok()).collect::<Vec<_>>() })
}

/// Emits the event of the input `n` times.
fn emit(input: &Value, n: u64) -> Value {
    let name = input["name"].as_str().unwrap_or("happened");
    let payload = input["payload"].as_str().unwrap_or("{}");
    for _ in 0..n {
        events::emit(name, payload);
    }
    json!({ "emitted": n })
}

#[inline(never)]
#[expect(unconditional_recursion, reason = "that is the fault")]
fn recurse_without_end(depth: u64) -> u64 {
    black_box(recurse_without_end(black_box(depth + 1))) + 1
}

#[inline(never)]
fn trap_here() -> ! {
    core::arch::wasm32::unreachable()
}

/// Returns a string that claims to be 1 GiB long.
fn lie() -> String {
    let mut text = std::mem::ManuallyDrop::new(String::from("short"));
    unsafe { String::from_raw_parts(text.as_mut_ptr(), 1 << 30, 1 << 30) }
}

export!(Hostile);
