//! Latchwork: a WebAssembly plugin host with durable execution.
//!
//! Plans are data; their steps compute, their tools touch the world, and both are Wasm
//! components. The host owns three stores: the event log, the ledger that alone decides who may
//! execute a call, and the effect store that remembers what the world answered. So a job survives
//! any crash, no committed call is made twice, and replay is deterministic.
//!
//! To embed it: open the stores (`latchwork-store`), load a [`config::Config`], start a
//! [`host::Host`], submit a [`submit::Submission`] and drive the claim.
//!
//! ```text
//! cli ─► host ─► worker ─► engine ─► capability
//!          │        └────► latchwork-core: decisions, states, events
//!          └─► registry
//! ```

pub mod bench;
pub mod build;
pub mod capability;
pub mod changed;
pub mod check;
pub mod cli;
pub mod config;
pub mod engine;
pub mod evidence;
mod files;
pub mod fork;
pub mod history;
pub mod host;
pub mod notify;
pub mod os;
pub mod registry;
pub mod replay;
pub mod schemas;
pub mod submit;
mod units;
pub mod validate;
pub mod verifier;
pub mod worker;
