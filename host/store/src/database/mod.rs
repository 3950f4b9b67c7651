//! The open database, and its implementations of the storage interfaces of the kernel.

mod claims;
mod effects;
pub(crate) mod handle;
pub(crate) mod journal;
mod kv;
pub(crate) mod open;
mod timers;
