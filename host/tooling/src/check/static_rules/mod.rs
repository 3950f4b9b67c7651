//! Rules that inspect the component without running its steps. Only `describe` is called.
//!
//! Floors, top first: `run_rules` · `load_problems`, `manifest` · `input`.

#[cfg(test)]
#[path = "../../../../engine/src/engine/untyped/tests/component_builder.rs"]
mod component_builder;
mod input;
mod load_problems;
mod manifest;
mod run_rules;

pub use input::StaticInput;
pub(super) use run_rules::run;
