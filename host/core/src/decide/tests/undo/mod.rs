//! Tests of cancelled jobs, and of effects that are undone.

mod cancel;
mod compensation;
mod evidence;
mod failed_compensation;
mod finished_jobs;
mod receipts;
