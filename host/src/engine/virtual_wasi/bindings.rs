//! Rust types and traits generated from `host/wasi`.
//!
//! No function of virtual WASI waits, so no function is asynchronous. Each resource is represented by a type of
//! this crate.

wasmtime::component::bindgen!({
    path: "wasi",
    world: "latchwork:virtual-wasi/wasi",
    imports: { default: trappable },
    with: {
        "wasi:io/error.error": super::handles::IoError,
        "wasi:io/poll.pollable": super::handles::Pollable,
        "wasi:io/streams.input-stream": super::handles::Stdin,
        "wasi:io/streams.output-stream": super::handles::StdStream,
        "wasi:cli/terminal-input.terminal-input": super::handles::Terminal,
        "wasi:cli/terminal-output.terminal-output": super::handles::Terminal,
    },
});

pub(in crate::engine) use wasi::{cli, clocks, io, random};
