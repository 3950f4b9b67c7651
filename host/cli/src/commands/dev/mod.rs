//! `latch dev`: builds, checks and dry-runs the project after each change of a source.
//!
//! Each round builds and checks the changed plugins, dry-runs the plan on a scratch database, and shows how the output
//! differs from the previous run.
//!
//! Builds, checks and dry runs are child processes, each in its own process group. Abandoning a round kills its process
//! groups, and a plugin that hangs does not block this process. A change of a source abandons the current round and
//! withdraws an open question about the live run.
//!
//! Floors, top first: `command` · `project` · `child`, `difference`, `question`, `watch`.

mod child;
mod command;
mod difference;
mod project;
mod question;
mod watch;

pub(crate) use command::run;
