//! Integration tests: one binary.

mod bindings;
mod cli;
mod config;
mod conformance;
mod examples;
mod hostile;
mod program;
mod support;
mod tidy;
