//! Rules that run steps. Each case runs once under the usual host and again under alternative hosts.
//!
//! The engine hides most differences between hosts from a step. These rules find steps that depend on the remaining
//! differences: the stack of the machine, failures of tools, and the entropy of the build. The rules also find errors
//! of the host itself.
//!
//! Floors, top first: `run_cases` · `drawn_inputs`, `schema_limits` · `other_inputs` · `clock_periods`, `perturb` · `loaded_variants` ·
//! `action_keys`, `builds`, `called_effects`, `classes`, `failing_calls`, `host_codes`, `other_job`, `other_seeds`, `other_times`,
//! `polling`, `unoptimized` · `other_process`, `perturbed_runs`, `run_end` · `address` · `baseline`, `cases`, `child` ·
//! `case` · `hosts`, `script` · `host_inputs`, `key_members`, `memory_layout`, `trace` ·
//! `used_memory`.

mod action_keys;
mod address;
mod baseline;
mod builds;
mod called_effects;
mod case;
mod cases;
mod child;
mod classes;
mod clock_periods;
mod drawn_inputs;
mod failing_calls;
mod host_codes;
mod host_inputs;
mod hosts;
mod key_members;
mod loaded_variants;
mod memory_layout;
mod other_inputs;
mod other_job;
mod other_process;
mod other_seeds;
mod other_times;
mod perturb;
mod perturbed_runs;
mod polling;
mod run_cases;
mod run_end;
mod schema_limits;
pub(crate) mod script;
pub(crate) mod trace;
mod unoptimized;
mod used_memory;

pub use case::{CaseAnswer, RecordedEnvironment, StepCase};
#[cfg(test)]
pub(crate) use cases::ANSWER;
pub use cases::parse;
pub use child::serve;
pub use host_inputs::{OtherProcess, RebuiltComponent};
pub use hosts::{DeclarationOf, ToolDeclaration};
pub(super) use hosts::{HostVariants, name_and_size};
pub(super) use loaded_variants::has_runtime;
pub(super) use memory_layout::{LAYOUTS, move_memory, with_more_room};
pub(super) use run_cases::{run, unserved_cases};
