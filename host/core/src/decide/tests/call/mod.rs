//! Tests of the calls of tools.

mod actions;
mod budget;
mod confirm;
mod doubt;
mod grants;
mod lack;
mod late_answers;
mod one_call;
mod retries;
mod unacknowledged;
