//! Integration tests: one binary.

mod cli;
mod config;
mod program;
mod bindings;
