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
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle. The test `floors` checks both rules. Below this crate stand `latchwork-engine` and `latchwork-core`.
//!
//! | floor | content |
//! |---|---|
//! | [`fork`] | submission of forks |
//! | [`host`] | the host: opens a configuration, submits requests, drives jobs |
//! | [`runtime`] | worker, jobs and calls |
//! | [`config_changes`] | settings that changed since a job was accepted |
//! | [`registry`], [`evidence`], [`notify`] | stored components, evidence files, notices |
//! | [`replay`], [`validate`], [`verifier`], [`submit`] | replay, validators, verifiers, submission of requests |
//! | [`config`] | the configuration `latch.toml` |

pub mod config;
pub mod config_changes;
pub mod evidence;
pub mod fork;
pub mod host;
pub mod notify;
pub mod registry;
pub mod replay;
pub mod runtime;
pub mod submit;
pub mod validate;
pub mod verifier;
