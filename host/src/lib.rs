//! Latchwork: a WebAssembly plugin host with durable execution.

pub mod cli;
pub mod config;
pub mod suggest;
pub mod capability;
pub mod config;
pub mod engine;
pub mod os;
