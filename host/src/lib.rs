//! Latchwork: a WebAssembly plugin host with durable execution.

pub mod config;
