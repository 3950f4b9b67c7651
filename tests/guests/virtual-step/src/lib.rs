//! Step that performs the action named in its input, such as `{"do": "clocks"}`. Together, the actions use
//! every WASI interface that a step can import.

mod world;

wit_bindgen::generate!({ path: "../../../wit", world: "step" });

use exports::latchwork::plugin::{plugin, run};
use latchwork::plugin::{clock, rng, tools, types};
use serde_json::{Value, json};

struct Virtual;

impl plugin::Guest for Virtual {
    fn describe() -> plugin::Manifest {
        // Some language runtimes read the clock and a random number when they start, and this code does the same. The
        // host gives `describe` the same values in every run, so the description is constant.
        let seen = (wasip2::clocks::wall_clock::now().seconds, wasip2::random::random::get_random_u64());
        plugin::Manifest {
            version: "1.0.0".into(),
            operators: vec![plugin::Operator {
                name: "Virtual.Do".into(),
                description: format!("Described at {} with {:016x}.", seen.0, seen.1),
                input_schema: r#"{"type":"object","required":["do"]}"#.into(),
                output_schema: "true".into(),
                effects: vec![plugin::Effect::ReadOnly],
                determinism: plugin::Determinism::Pure,
                outcome_type: None,
                outcome_status: None,
                resolution: plugin::Resolution { idempotent_by_key_seconds: 0, settling_ms: 0 },
                limits: plugin::LimitsWanted { memory_bytes: None, timeout_ms: None, output_bytes: None },
            }],
        }
    }
}

impl run::Guest for Virtual {
    fn run(_operator: String, input: String) -> Result<String, types::Error> {
        let input: Value = serde_json::from_str(&input).expect("the host gives JSON");
        let n = input["n"].as_u64().unwrap_or(0);
        let answer = match input["do"].as_str().expect("the schema was checked") {
            "clocks" => {
                let began = world::both();
                let answer = input["call"].as_str().map(|tool| tools::call(tool, "{\"note\":1}", None).is_ok());
                json!({ "began": began, "answered": answer, "then": world::both(), "injected": injected() })
            }
            "sleep" => {
                let before = world::both();
                world::sleep(n);
                json!({ "before": before, "after": world::both(), "injected": injected() })
            }
            "random" => {
                let first = hex(&rng::bytes(4));
                json!({ "rng": first, "wasi": world::random(n), "then": hex(&rng::bytes(4)) })
            }
            "poll" => world::poll(n),
            "spin" => world::spin(n),
            "program" => world::program(),
            "print" => world::print(),
            "flood" => world::flood(n),
            "exit" => world::exit(n),
            "files" => world::files(),
            "sockets" => world::sockets(),
            "http" => world::http(),
            "handles" => world::handles(n),
            "poll-nothing" => world::poll_nothing(),
            "write" => world::write(n),
            "zeroes" => world::zeroes(n),
            other => panic!("told to do {other}"),
        };
        Ok(answer.to_string())
    }
}

fn injected() -> Value {
    let now = clock::now();
    json!([now.seconds, now.nanoseconds])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

export!(Virtual);
