//! Output of commands on a terminal.

mod json_log_lines;
mod live_view;
mod typed_commands;

mod commands;
mod escapes;
mod snapshot;
