//! `latch plugin inspect`: shows the kind of a component, its imports and what it may reach.
//!
//! Everything except the operators is read from the bytes of the component, without running its code. The operators
//! come from a call of `describe`. `--static` leaves the operators out.

mod command;
mod document;
mod inspection;
mod lines;
mod reach;

pub(crate) use command::run;
