//! Output of commands on a terminal.

mod commands;
mod escapes;
mod live;
mod records;
mod snapshot;
mod to_type;
