//! Step whose `describe` reads the clock.

wit_bindgen::generate!({ path: "../../../wit", world: "step" });

use exports::latchwork::plugin::{plugin, run};
use latchwork::plugin::{clock, types};

struct Chatty;

impl plugin::Guest for Chatty {
    fn describe() -> plugin::Manifest {
        plugin::Manifest { version: format!("1.0.{}", clock::now().seconds), operators: vec![] }
    }
}

impl run::Guest for Chatty {
    fn run(_operator: String, input: String) -> Result<String, types::Error> {
        Ok(input)
    }
}

export!(Chatty);
