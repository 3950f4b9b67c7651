//! Tests of whole jobs and their steps.

mod aborted_tries;
mod claims;
mod emitted_events;
mod evidence;
mod fork;
mod parameters;
mod plans;
mod reopen;
mod request_ref;
mod responses;
mod reuse;
mod unloaded;
mod waits;
