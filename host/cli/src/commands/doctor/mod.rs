//! `latch doctor`: checks in advance everything that a job will need.
//!
//! - `check` holds the result of one check and its display.
//! - `database`, `maps`, `plugins`, `secrets` and `toolchains` each check the items in their name.
//! - `machine` checks folders and clock; `writable` checks that files can be created.
//! - `deep` recomputes every hash; `limits` prints the limits of plugins.
//!
//! Floors, top first: `command` · `deep`, `maps` · `database`, `limits`, `machine`, `plugins`, `secrets`, `toolchains`
//! · `check`, `writable`.

mod check;
mod command;
mod database;
mod deep;
mod limits;
mod machine;
mod maps;
mod plugins;
mod secrets;
mod toolchains;
mod writable;

pub(crate) use command::run;
