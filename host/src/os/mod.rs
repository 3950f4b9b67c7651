//! What the operating system knows and nothing else may ask: the time, and randomness.
//!
//! Everything else is told. That is what keeps replay deterministic and tests free of waiting.

pub mod clock;
pub mod entropy;
mod machine;

pub use machine::{Machine, ThisMachine};
