//! The command `latch worker`.

mod missing_plugin;
mod queue;
