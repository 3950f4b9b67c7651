//! Tools that the embedding program implements in Rust. Their calls take part in durable execution like the calls of
//! components: they are recorded, answered from the records in replay, and resolved when they are in doubt.
//!
//! Floors, top first: `plugin` · `tool`.

mod plugin;
mod tool;

#[cfg(test)]
mod tests;

pub use plugin::NativePlugin;
pub use tool::{CommittedCall, NativeFunctions, NativeTool};
