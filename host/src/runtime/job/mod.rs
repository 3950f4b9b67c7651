//! Jobs: drives one claimed job in one attempt until it settles.

mod aborted;
mod attempt;
mod audit;
mod claimed;
mod confirm;
mod deferred_writes;
mod drive;
mod finish;
mod in_flight;
mod inbox;
mod live_view;
mod lookup;
mod run;
mod show;
mod step;
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
pub(crate) use stored::load_durable;
