//! Output of commands on a terminal.

mod commands;
mod escapes;
mod json_log_lines;
mod live_view;
pub(crate) mod snapshot;
mod typed_commands;
