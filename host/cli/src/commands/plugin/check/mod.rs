//! `latch plugin check`: checks plugins, also for CI.
//!
//! The exit code is 1 if a plugin violates a rule, else 2 if a plugin could not be checked, else 0.

mod baseline;
mod command;
mod configured_tools;
mod input_errors;
mod known_values;
mod outputs;
mod phases;
mod subject;

pub(crate) use command::run;
