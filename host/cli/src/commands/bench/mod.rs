//! `latch bench`: measures durable calls per second, here or by worker processes on a server.

mod command;
mod workers;

pub(crate) use command::run;
