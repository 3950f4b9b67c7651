//! The command line: its usage, exit codes and results, and `latch doctor`.

mod doctor;
mod exit_codes;
mod job_results;
mod project_discovery;
mod usage;
