#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | module | for | what |
//! |---|---|---|
//! | [`step`], [`export_step!`] | steps | operators of deterministic code |
//! | [`tool`], [`export_tool!`] | tools | operators that access the outside world |
//! | [`clock`], [`rng`], [`tools`], [`events`] | steps | the injected clock and generator, calls of tools, events |
//! | [`fs`], [`http`], [`kv`], [`secrets`], [`config`], [`wall`] | tools | access within the grants of `latch.toml` |
//! | [`log`] | both | log records with the trace context of the step |
//! | [`Error`] | both | failures with one of the ten codes |
//! | [`testing`] | native tests | a test host, so that `cargo test` runs handlers natively |
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle.
//!
//! | floor | content |
//! |---|---|
//! | `export` | macros that turn a crate into a plugin |
//! | [`step`], [`tool`] | operators: description, handlers and dispatch of the exports |
//! | [`clock`], [`config`], `context`, [`events`], [`fs`], [`http`], [`kv`], [`log`], [`rng`], [`secrets`], [`tools`], [`wall`] | functions that handlers call |
//! | `host` | calls of the host: real imports in a component, test stand-ins in a native build |
//! | [`testing`] | the test host of native builds, with the test stand-ins |
//! | `manifest`, `schema` | descriptions of operators, JSON Schemas, and conversion from and to JSON |
//! | `finite` | JSON text without numbers that JSON cannot represent |
//! | `data` | data that plugins exchange with the host: times, log levels, files, requests and responses |
//! | `error` | failures of handlers |
//! | [`bindings`] | generated types and functions of the interfaces |

pub mod clock;
pub mod config;
mod context;
mod data;
mod error;
pub mod events;
mod export;
mod finite;
pub mod fs;
mod host;
pub mod http;
pub mod kv;
pub mod log;
mod manifest;
pub mod rng;
mod schema;
pub mod secrets;
pub mod step;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod tool;
pub mod tools;
pub mod wall;

#[doc(hidden)]
#[expect(
    unsafe_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "generated; the documentation is in wit/"
)]
pub mod bindings;

pub use error::{Applied, Code, Error};
pub use manifest::{Determinism, Effect, Limits};
pub use schemars;
pub use serde;
pub use serde_json;

#[doc(hidden)]
pub mod __private {
    //! Functions that the export macros call.
    pub use crate::manifest::describe;
    pub use crate::step::run;
    pub use crate::tool::dispatch::{compensate, invoke, mismatched_exports, reconcile, verify};
}
