//! Decisions about a job and its steps: start, end, waits, settlement, reuse, reopening and forks.
//!
//! Floors, top first: `settlement` · `advance` · `reuse`, `unloaded`, `waits` · `attempt`, `confirm`, `fork`, `inputs`,
//! `reopen`, `step_end`.

pub(super) mod advance;
pub(super) mod attempt;
pub(super) mod confirm;
pub(super) mod fork;
pub(super) mod inputs;
pub(super) mod reopen;
pub(super) mod reuse;
pub(super) mod settlement;
pub(super) mod step_end;
pub(super) mod unloaded;
pub(super) mod waits;
