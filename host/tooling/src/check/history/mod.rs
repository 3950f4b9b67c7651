//! Rules that run steps of real jobs again on this build: D150 to D155.
//!
//! Floors, top first: `run_steps` · `cases`, `divergence` · `verified`.

mod cases;
mod divergence;
mod run_steps;
mod verified;

pub(super) use run_steps::run;
pub(super) use verified::read;
pub use verified::{HistoryFile, HistoryFileError};
