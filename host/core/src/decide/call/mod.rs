//! Decisions about one call: what to do next, its barrier, its answer, and its resolution after a crash.
//!
//! Floors, top first: `crash_prediction` · `next` · `permission`, `resolution` · `barrier` · `answer`, `cross_job`,
//! `lookup`, `row` · `action` · `budget`, `ledger_row`, `stopped_step`, `tries`.

pub(super) mod action;
pub(super) mod answer;
pub(super) mod barrier;
pub(super) mod budget;
pub(super) mod crash_prediction;
pub(super) mod cross_job;
pub(super) mod ledger_row;
pub(super) mod lookup;
pub(super) mod next;
pub(super) mod permission;
pub(super) mod resolution;
pub(super) mod row;
pub(super) mod stopped_step;
pub(super) mod tries;
