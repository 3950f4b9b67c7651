//! The command line: its usage, exit codes and results, and `latch doctor`.

mod doctor;
mod exit_codes;
mod job_results;
#[cfg(target_os = "linux")]
mod private_memory;
mod project_discovery;
mod usage;
