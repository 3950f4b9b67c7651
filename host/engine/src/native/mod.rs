//! Tools that the embedding program implements in Rust. They take part in durable execution like components: their
//! calls are recorded, answered from the records in replay, and resolved when they are in doubt.
//!
//! Floors, top first: `plugin` · `tool`.

mod plugin;
mod tool;

#[cfg(test)]
mod tests;

pub use plugin::NativePlugin;
pub use tool::{CommittedCall, NativeFunctions, NativeTool};
