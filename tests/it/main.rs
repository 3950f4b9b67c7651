//! Integration tests: one binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, and the panic says where")]

mod bindings;
mod cli;
mod config;
mod conformance;
mod crash;
mod examples;
mod flushes;
mod golden;
mod hostile;
mod place;
mod program;
mod store_crash;
mod storms;
mod support;
mod tidy;
