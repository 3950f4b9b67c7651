//! Errors of the command line. An error has a code with an explanation page, a message, a list of problems with their
//! locations, and an exit status.
//!
//! Floors, top first: `conversion` · `unloaded_plugins` · `cli_error` · `exit`, `problem`.

mod cli_error;
mod conversion;
mod exit;
mod problem;
mod unloaded_plugins;

pub use cli_error::CliError;
pub use exit::Exit;
pub use problem::CliProblem;

pub(crate) use problem::split_location;
pub(crate) use unloaded_plugins::{operator_not_served, plugins_not_loaded, problems_of, step_plugin_needs_all};
