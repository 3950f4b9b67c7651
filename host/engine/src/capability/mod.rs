//! Interfaces that a running plugin can reach, one per file. Access is denied by default.
//!
//! Steps have `context`, `clock`, `rng`, `tools`, `events` and `log`. Each of these forwards to the
//! [`StepCalls`](crate::guest::step_calls::StepCalls) of the try. Tools have `context`, `invocation`, `log`, `kv`,
//! `secrets`, `config`, and from WASI 0.2 `filesystem`, `sockets`, `http` and `stdio`.
//!
//! Modules `grant` and `http_grant` check every grant. Module `call_window` enforces the deadline of a call and records
//! whether the call has begun to act on the world.
//!
//! Floors, top first: `hidden_secrets`, `http` · `connect`, `secret_echo`, `secret_insertion`, `stdio` · `config`,
//! `context`, `filesystem`, `kv`, `log`, `name_lookup`, `open_dirs`, `secrets`, `tcp_connect` · `write_quota` ·
//! `settings` · `events`, `file_open`, `handles`, `host_call_gate`, `http_grant`, `older_grants`, `rng`, `sockets`,
//! `stub`, `tools` · `grant` · `denied` · `access_text`, `config_line`, `stream_lack` · `address`, `call_window`,
//! `clock`, `fixed_sources`, `grants`, `placeholder`, `replaced_body`, `secret_values`, `step_call_view` · `interruption`,
//! `lookups`, `scratch_folders`.

pub mod access_text;
pub mod call_window;
pub mod config_line;
pub mod denied;
pub mod grants;
pub mod http_grant;
mod interruption;
pub mod older_grants;
mod secret_values;
pub mod settings;
mod stub;

pub(crate) mod address;
pub(crate) mod clock;
pub(crate) mod config;
pub mod connect;
pub(crate) mod context;
mod events;
pub(crate) mod file_open;
pub(crate) mod filesystem;
mod fixed_sources;
pub mod grant;
pub(crate) mod handles;
mod hidden_secrets;
pub(crate) mod host_call_gate;
pub mod http;
pub(crate) mod kv;
pub(crate) mod log;
mod lookups;
pub(crate) mod name_lookup;
pub mod open_dirs;
mod placeholder;
mod replaced_body;
pub(crate) mod rng;
mod scratch_folders;
pub mod secret_echo;
mod secret_insertion;
pub(crate) mod secrets;
pub(crate) mod sockets;
pub(crate) mod stdio;
pub(crate) mod step_call_view;
mod stream_lack;
pub(crate) mod tcp_connect;
mod tools;
pub(crate) mod write_quota;

pub(crate) use fixed_sources::{fix_for_check, fix_for_pure};
pub(crate) use hidden_secrets::HiddenSecrets;
pub use hidden_secrets::hide_secrets;
pub use interruption::Interruption;
pub(crate) use placeholder::Placeholders;
pub use scratch_folders::{FolderFault, ScratchFolders};
pub use secret_values::{EnvOrFile, Secrets};
pub use stub::{HttpStub, StubFailure};

/// Version of the WASI interfaces that wasmtime-wasi links. A component may import an older one.
pub(crate) const WASI_VERSION: &str = "0.2.12";

/// Returns scheme, host and port of a URL. Returns `None` if one of them is missing or invalid.
pub fn origin_of(uri: &::http::Uri) -> Option<grants::Origin> {
    http::request_origin(uri).ok()
}
