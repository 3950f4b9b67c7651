//! Latchwork: a WebAssembly plugin host with durable execution.
//!
//! A plan is data. The steps of a plan compute, and the tools of a plan act on the outside world. Both are
//! Wasm components. The host owns three stores. The event log is the authority for replay. The ledger alone
//! decides which worker may execute a call. The effect store keeps the answers of the outside world. A job
//! therefore survives any crash, no committed call is executed twice, and replay is deterministic.
//!
//! To embed the host: open the stores (`latchwork-store`), load a [`config::Config`], start a [`host::Host`],
//! submit a [`submit::Submission`] and drive the claim.
//!
//! ```text
//! cli ─► host ─► runtime ─► engine ─► capability
//!          │        └────► latchwork-core: decisions, states, events
//!          └─► registry
//! ```

pub mod config_changes;
pub mod guest;
mod temp_files;

pub mod bench;
pub mod build;
pub mod capability;
pub mod check;
pub mod cli;
pub mod config;
pub mod engine;
pub mod evidence;
pub mod fork;
pub mod history;
pub mod host;
pub mod inspect;
mod interfaces;
pub mod notify;
pub mod os;
pub mod registry;
pub mod replay;
pub mod runtime;
pub mod schemas;
pub mod submit;
mod units;
pub mod validate;
pub mod verifier;
