//! Boundary between the host and a guest: generated bindings, host calls of steps, faults and limits.
//!
//! Floors, top first: `convert`, `limits`, `step_calls`, `tool_call` · `bindings`, `fault`, `json_gate`, `last_words`,
//! `permissions`, `runtime_reads`, `sources`, `step_clock`.

pub(crate) mod bindings;
pub(crate) mod convert;
pub(crate) mod fault;
pub mod json_gate;
pub mod last_words;
pub(crate) mod limits;
pub mod permissions;
pub mod runtime_reads;
pub mod sources;
pub mod step_calls;
pub(crate) mod step_clock;
pub mod tool_call;

#[cfg(test)]
mod tests;
