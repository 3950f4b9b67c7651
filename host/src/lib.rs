//! Latchwork: a WebAssembly plugin host with durable execution.

pub mod capability;
pub mod config;
pub mod engine;
pub mod os;
pub mod registry;
pub mod suggest;
