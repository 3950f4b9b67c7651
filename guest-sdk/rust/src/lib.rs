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

pub mod clock;
pub mod config;
mod context;
mod error;
pub mod events;
mod export;
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
