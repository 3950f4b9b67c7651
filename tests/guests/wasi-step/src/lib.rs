//! Step that imports a clock, randomness, sockets and files of WASI. The step also imports the interface
//! `invocation`, which is meant for tools and contains the number of the attempt.

wit_bindgen::generate!({
    path: "../../../wit",
    inline: "
        package test:wasi-step;
        world wasi-step {
            include latchwork:plugin/step@0.1.0;
            import latchwork:plugin/invocation@0.1.0;
        }
    ",
    world: "test:wasi-step/wasi-step",
    generate_all,
});

use exports::latchwork::plugin::{plugin, run};
use latchwork::plugin::{invocation, types};

struct Wasi;

impl plugin::Guest for Wasi {
    fn describe() -> plugin::Manifest {
        plugin::Manifest { version: "1.0.0".into(), operators: vec![] }
    }
}

impl run::Guest for Wasi {
    fn run(_operator: String, _input: String) -> Result<String, types::Error> {
        let now = wasip2::clocks::wall_clock::now().seconds ^ wasip2::random::random::get_random_u64();
        let files = wasip2::filesystem::preopens::get_directories().len();
        drop(wasip2::sockets::instance_network::instance_network());
        Ok(format!("[{now}, {files}, {}]", invocation::get().attempt))
    }
}

export!(Wasi);
