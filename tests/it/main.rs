//! Integration tests: one binary.

mod bindings;
mod cli;
mod config;
mod program;
//! The integration tests: one binary.

mod conformance;
//! One binary for all integration tests.

mod conformance;
mod hostile;
mod program;
mod support;
mod tidy;
