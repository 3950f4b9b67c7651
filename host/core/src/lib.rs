//! The pure kernel of Latchwork.
//!
//! Nothing here reads a clock, draws entropy, opens a file or waits: time, randomness and
//! stored data come in as arguments, decisions go out as events and actions. That is what
//! makes replay deterministic, and it is checked by building this crate for a Wasm target.

pub mod admit;
pub mod awaited;
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
pub mod pages;
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
