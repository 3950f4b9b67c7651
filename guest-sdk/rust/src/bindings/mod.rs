//! Generated from `wit/` by wit-bindgen: one file with everything a plugin may import, one for
//! each interface it may export. `tests/it/sources/bindings.rs` writes and checks them.

#[rustfmt::skip]
mod imports;
#[rustfmt::skip]
pub mod export_compensate;
#[rustfmt::skip]
pub mod export_invoke;
#[rustfmt::skip]
pub mod export_plugin;
#[rustfmt::skip]
pub mod export_reconcile;
#[rustfmt::skip]
pub mod export_run;
#[rustfmt::skip]
pub mod export_verify;

pub use imports::latchwork::plugin::*;
