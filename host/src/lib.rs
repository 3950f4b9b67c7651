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
//! other in a circle. The test `floors` checks both rules.
//!
//! | floor | content |
//! |---|---|
//! | [`cli`] | the program `latch`: arguments, one file for each command, output |
//! | [`mod@bench`] | benchmarks |
//! | [`check`], [`schemas`] | checks of plugins, and the published JSON schemas |
//! | [`history`] | exported histories that tests play on a plugin |
//! | [`fork`] | submission of forks |
//! | [`host`] | the host: opens a configuration, submits requests, drives jobs |
//! | [`runtime`] | worker, jobs and calls |
//! | [`config_changes`] | settings that changed since a job was accepted |
//! | [`registry`], [`evidence`], [`notify`] | stored components, evidence files, notices |
//! | [`replay`], [`validate`], [`verifier`], [`submit`] | replay, validators, verifiers, submission of requests |
//! | [`engine`] | Wasm engine: loads components and runs them under limits |
//! | [`build`], [`inspect`] | builds of plugins, and reading of component files |
//! | `interfaces` | names of the interfaces that the host serves, and refused imports |
//! | [`config`] | the configuration `latch.toml` |
//! | [`capability`] | interfaces that a running plugin can reach, and their grants |
//! | [`guest`] | boundary to a guest: bindings, host calls, faults, limits |
//! | [`os`], `temp_files`, `units` | clock, entropy and files of the operating system |

pub mod bench;
pub mod build;
pub mod capability;
pub mod check;
pub mod cli;
pub mod config;
pub mod config_changes;
pub mod engine;
pub mod evidence;
pub mod fork;
pub mod guest;
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
mod temp_files;
mod units;
pub mod validate;
pub mod verifier;
