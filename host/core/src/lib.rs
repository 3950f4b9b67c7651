//! The pure kernel of Latchwork.
//!
//! This crate reads no clock, draws no entropy, opens no file and never blocks. Its functions get time, random numbers
//! and stored data as arguments, and return decisions as events and actions. Replay is therefore deterministic.
//!
//! The crate is also built for a Wasm target. This build shows that the crate needs no operating system.

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
