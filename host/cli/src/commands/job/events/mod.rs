//! `latch job events`: prints the events of a job, or follows them.

mod command;
mod follow;

pub(crate) use command::run;
