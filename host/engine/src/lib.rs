//! WebAssembly engine of Latchwork. It loads components and runs them under limits, and serves their imports.
//!
//! The crate imports no worker and no store, and reads no configuration file. The embedding crate passes settings as
//! data, and answers the calls of a step through [`guest::step_calls::StepCalls`]. A refusal shows the missing grant as
//! a line of `latch.toml` ([`capability::config_line`]). A capability sees only a view of its own state.
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle. The test `floors` checks both rules.
//!
//! | floor | content |
//! |---|---|
//! | [`native`] | tools that the embedding program implements in Rust |
//! | `engine` | loads components, runs steps and tools. Its public items are exported by this file |
//! | [`interfaces`] | names of the interfaces that the host serves, and refused imports |
//! | [`capability`] | interfaces that a running plugin can reach, and their grants |
//! | [`guest`] | boundary to a guest: bindings, host calls, faults, limits |
//! | [`os`] | clock, entropy and files of the operating system |

pub mod capability;
mod engine;
pub mod guest;
pub mod interfaces;
pub mod native;
pub mod os;

pub use engine::{
    CompilationListener, CompilationStart, ComponentInterface, Engine, EngineError, EngineOptions, EngineVariation,
    Explain, IMPURE_READS, LoadError, PinnedComponents, Plugin, PluginProblem, PoolSize, ReconcileVerdict, Runnable,
    StepEnd, StepOutcome, ToolEnd, VerifyResult, schema,
};
