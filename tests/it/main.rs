//! Integration tests in one binary. Each folder has the tests of one subject. `support` has the helpers that tests of
//! several folders share; a helper of a single folder is in that folder.

#![expect(clippy::unwrap_used, reason = "a panic fails the test and names the line")]

mod built_guests;
mod changed_inputs;
mod changed_plugins;
mod cli_answers;
mod component_builder;
mod crash_loops;
mod failures;
mod full_disk;
mod job_results;
mod late_answers;
mod llm_provider;
mod log_equivalence;
mod missing_plugin;
mod pending_requests;
mod random_kills;
mod recorded_answers;
mod request_body_kill;
mod running_worker;
mod settling_time;
mod shims;
mod stock_guests;
mod suspended_process;
mod test_env;
mod unloadable_plugins;

mod authors;
mod calls;
mod check;
mod cli;
mod config;
mod conformance;
mod crash;
mod docs;
mod evidence;
mod jobs;
mod llm;
mod people;
mod plugins;
mod postgres;
mod screens;
mod sdk;
mod sources;
mod stores;
mod support;
mod undo;
mod workers;
