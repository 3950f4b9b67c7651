//! The kernel driven by a small worker of its own over a world that counts, cut off anywhere.

mod actions;
mod announced;
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
mod late;
mod modes;
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
mod waits;
