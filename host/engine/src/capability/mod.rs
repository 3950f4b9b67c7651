//! Interfaces that a running plugin can reach, one per file. Access is denied by default.
//!
//! Steps have `context`, `clock`, `rng`, `tools`, `events` and `log`. Each of these forwards to the
//! [`StepCalls`](crate::guest::step_calls::StepCalls) of the try. Tools have `context`, `invocation`, `log`, `kv`,
//! `secrets`, `config`, and from WASI 0.2 `filesystem`, `sockets`, `http` and `stdio`.
//!
//! Module `grant` checks every grant. Module `call_window` enforces the deadline of a call and records whether
//! the call has begun to act on the world.
//!
//! Floors, top first: `http` · `connect`, `stdio` · `config`, `context`, `filesystem`, `kv`, `log`, `open_dirs`,
//! `secrets`, `settings`, `sockets` · `events`, `grant`, `host_call_gate`, `rng`, `stub`, `tools` · `address`, `call_window`,
//! `clock`, `grants`, `placeholder`, `secret_values`, `step_view`.

pub mod call_window;
pub mod grants;
mod secret_values;
pub mod settings;
mod stub;

pub(crate) mod address;
pub(crate) mod clock;
pub(crate) mod config;
pub mod connect;
pub(crate) mod context;
mod events;
pub(crate) mod filesystem;
pub mod grant;
pub(crate) mod host_call_gate;
pub mod http;
pub(crate) mod kv;
pub(crate) mod log;
pub(crate) mod open_dirs;
mod placeholder;
pub(crate) mod rng;
pub(crate) mod secrets;
pub(crate) mod sockets;
pub(crate) mod stdio;
pub(crate) mod step_view;
mod tools;

pub(crate) use placeholder::Placeholders;
pub use secret_values::{EnvOrFile, Secrets};
pub(crate) use stub::fix_environment;
pub use stub::{HttpStub, StubFailure};

/// Returns scheme, host and port of a URL. Returns `None` if one of them is missing or invalid.
pub fn origin_of(uri: &::http::Uri) -> Option<grants::HttpGrant> {
    http::request_origin(uri).ok()
}
