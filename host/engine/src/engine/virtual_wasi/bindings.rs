//! Rust types and traits generated from `host/engine/wasi`.
//!
//! No function of virtual WASI waits, so no function is asynchronous. Each resource is represented by a type of
//! this crate.

wasmtime::component::bindgen!({
    path: "wasi",
    world: "latchwork:virtual-wasi/wasi",
    imports: { default: trappable },
    with: {
        "wasi:io/error.error": crate::engine::virtual_wasi::handles::IoError,
        "wasi:io/poll.pollable": crate::engine::virtual_wasi::handles::Pollable,
        "wasi:io/streams.input-stream": crate::engine::virtual_wasi::handles::Stdin,
        "wasi:io/streams.output-stream": crate::engine::virtual_wasi::handles::StdStream,
        "wasi:cli/terminal-input.terminal-input": crate::engine::virtual_wasi::handles::Terminal,
        "wasi:cli/terminal-output.terminal-output": crate::engine::virtual_wasi::handles::Terminal,
    },
});

pub(in crate::engine) use wasi::{cli, clocks, io, random};
