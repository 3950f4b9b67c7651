//! Integration tests: one binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, and the panic says where")]

mod bindings;
mod check;
mod cli;
mod compensation;
mod compensation_crash;
mod config;
mod confirm;
mod conformance;
mod costs;
mod crash;
mod evidence;
mod examples;
mod flushes;
mod fork;
mod gates;
mod golden;
mod history;
mod hostile;
mod inspect;
mod keys;
mod late;
mod llm;
mod made;
mod modes;
mod notify;
mod pinned;
mod place;
mod plain;
mod postgres;
mod program;
mod prompt;
mod provider;
mod reuse;
mod sdk;
mod server;
mod stock;
mod stopped;
mod store_crash;
mod storms;
mod support;
mod tidy;
mod validate;
mod virtual_wasi;
mod waits;
