//! Integration tests: one binary.

mod bindings;
mod cli;
mod config;
mod hostile;
mod program;
mod support;
