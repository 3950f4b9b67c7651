//! The pure kernel of Latchwork.
//!
//! This crate reads no clock, draws no entropy, opens no file and never blocks. Time, random numbers and stored
//! data are passed in as arguments. Decisions are returned as events and actions. For this reason, replay is
//! deterministic. The crate is also built for a Wasm target, to show that it needs no operating system.

pub mod error_docs;
pub mod expectation;

pub mod admit;
pub mod bindings;
pub mod canon;
pub mod cost;
pub mod decide;
pub mod effect;
pub mod error;
pub mod event;
pub mod evidence;
pub mod ids;
pub mod job;
pub mod keys;
pub mod ledger;
pub mod manifest;
pub mod memory;
pub mod notice;
pub mod pending;
pub mod plan;
pub mod policy;
pub mod quiescence;
pub mod replay;
pub mod response;
pub mod retry;
pub mod reuse;
pub mod rng;
pub mod state;
pub mod step;
pub mod storage;
pub mod suggest;
pub mod wait;
