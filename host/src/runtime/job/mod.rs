//! Jobs: drives one claimed job in one attempt until it settles.
//!
//! Floors, top first: `drive` · `step` · `host_calls` · `attempt`, `claimed`, `confirm`, `finish`, `inbox`, `lookup`,
//! `show`, `stopped`, `timers`, `undo`, `validate`, `write` · `run` · `unloaded` · `aborted` · `live_view` · `audit`,
//! `deferred_writes`, `in_flight`, `stored`, `unacknowledged`.

mod aborted;
mod attempt;
mod audit;
mod claimed;
mod confirm;
mod deferred_writes;
mod drive;
mod finish;
mod host_calls;
mod in_flight;
mod inbox;
mod live_view;
mod lookup;
mod run;
mod show;
mod step;
mod stopped;
mod stored;
mod timers;
mod unacknowledged;
mod undo;
mod unloaded;
mod validate;
mod write;

pub use aborted::{ReloadCause, RunAborted};
pub use audit::audit_finished_inbox;
pub(crate) use in_flight::InFlightGuard;
pub use run::Run;
pub(crate) use stopped::CallStopped;
pub(crate) use stored::load_durable;
