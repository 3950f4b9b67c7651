//! Tests of the decisions with a small simulated worker and a world that counts executions. The worker can be
//! cut off at any point.

mod emitted_events;
mod late_answers;
mod unacknowledged;
mod unloaded;

mod actions;
mod budget;
mod cancel;
mod compensation;
mod compensation_crash;
mod compensation_evidence;
mod confirm;
mod crash;
mod doubt;
mod evidence;
mod fork;
mod gates;
mod modes;
mod offers;
mod parameters;
mod pending;
mod plans;
mod policy;
mod random;
mod receipts;
mod reopen;
mod responses;
mod retries;
mod reuse;
mod sim;
mod undo;
mod undo_crash;
mod waits;
