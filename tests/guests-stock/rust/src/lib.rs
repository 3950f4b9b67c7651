//! Step in plain Rust with the standard library. Reads every source of input that a program can read.

wit_bindgen::generate!({ path: "../../../wit", world: "step" });

use std::collections::HashSet;
use std::io::Read;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use exports::latchwork::plugin::{plugin, run};
use latchwork::plugin::{tools, types};
use serde_json::{Value, json};

struct Stock;

impl plugin::Guest for Stock {
    fn describe() -> plugin::Manifest {
        plugin::Manifest {
            version: "1.0.0".into(),
            operators: vec![plugin::Operator {
                name: "Stock.Rust".into(),
                description: "Reads every source of input.".into(),
                input_schema: r#"{"type":"object"}"#.into(),
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

impl run::Guest for Stock {
    fn run(_operator: String, input: String) -> Result<String, types::Error> {
        let told: Value = serde_json::from_str(&input).expect("the host gives JSON");
        if let Some(status) = told["exit"].as_i64() {
            println!("ends");
            std::process::exit(i32::try_from(status).expect("a status"));
        }
        let since = || SystemTime::now().duration_since(UNIX_EPOCH).expect("later").as_secs_f64();
        let began = since();
        let answer = told["call"].as_str().map(|tool| tools::call(tool, "{\"note\":1}", None).is_ok());
        let heard = since();
        let start = Instant::now();
        std::thread::sleep(Duration::from_secs(60));
        println!("to standard output");
        eprintln!("to standard error");
        let mut read = String::new();
        std::io::stdin().read_to_string(&mut read).expect("standard input is at its end");
        let set: HashSet<u32> = (0..16).collect();
        let kind = |error: std::io::Error| format!("{:?}", error.kind());
        let output = json!({
            "began": began,
            "heard": heard,
            "slept": start.elapsed().as_secs(),
            "set": set.into_iter().collect::<Vec<_>>(),
            "variables": std::env::vars().count(),
            "arguments": std::env::args().count(),
            "stdin": read,
            "file": std::fs::read("/etc/passwd").map_err(kind).err(),
            "made": std::fs::write("made", "x").map_err(kind).err(),
            "socket": TcpStream::connect("127.0.0.1:80").map(drop).map_err(kind).err(),
            "lookup": "example.com:80".to_socket_addrs().map(drop).map_err(kind).err(),
            "answer": answer,
        });
        Ok(output.to_string())
    }
}

export!(Stock);
