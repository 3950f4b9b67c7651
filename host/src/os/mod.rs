//! Time and randomness of the operating system. No other module may read time or randomness directly.
//!
//! All other modules receive time and randomness as inputs. This keeps replay deterministic and lets tests
//! run without waiting.

pub mod clock;
pub mod entropy;
mod machine;

pub use machine::{Machine, ThisMachine};
