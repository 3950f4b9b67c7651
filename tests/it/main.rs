//! Integration tests: one binary.

mod bindings;
mod cli;
mod config;
mod conformance;
mod hostile;
mod program;
mod support;
