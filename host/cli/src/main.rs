//! `latch`: the command line of Latchwork.

use std::process::ExitCode;

fn main() -> ExitCode {
    latchwork_cli::main(std::env::args_os())
}
