//! Tests of the decision functions. A simulated worker executes jobs in a simulated world that counts
//! executions. Tests can kill the worker at any point.

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
