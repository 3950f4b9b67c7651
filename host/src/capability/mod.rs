//! What a running plugin can reach, one interface a file, denied by default.
//!
//! Steps: `context`, `clock`, `rng`, `tools`, `events`, `log`; each hands over to the
//! [`StepCalls`](crate::engine::StepCalls) of the try. Tools: `context` and `invocation`, `log`,
//! `kv`, `secrets`, `config`, and from WASI 0.2 `filesystem`, `sockets`, `http` and `stdio`.
//!
//! Every grant is checked in `grant`, and `watch` knows of a call until when it may act on the
//! world and whether it has.

pub(crate) mod address;
mod clock;
pub(crate) mod config;
pub(crate) mod connect;
mod context;
mod double;
mod events;
pub(crate) mod filesystem;
pub(crate) mod grant;
pub(crate) mod http;
pub(crate) mod kv;
pub(crate) mod log;
mod placeholder;
pub(crate) mod rng;
pub(crate) mod secrets;
pub(crate) mod sockets;
pub(crate) mod stdio;
mod tools;
pub(crate) mod watch;

pub(crate) use double::settle;
pub use double::{Servers, Unanswered};
pub(crate) use placeholder::Placeholders;
pub use secrets::{EnvOrFile, Secrets};

/// The place that a URL leads to; none where it leads nowhere.
pub(crate) fn place_of(uri: &::http::Uri) -> Option<crate::config::HttpGrant> {
    self::http::place_of(uri).ok()
}
