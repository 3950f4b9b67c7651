//! Time and randomness: their sources in the operating system, and the clock and entropy of a host.
//!
//! All other modules receive time and randomness as inputs, so that replay is deterministic and tests run without
//! waiting.

pub mod clock;
pub mod entropy;
mod host_clock;
mod machine;
pub mod temp_files;

pub use clock::SystemClock;
pub use entropy::{Entropy, SystemEntropy};
pub use host_clock::HostClock;
pub use machine::Machine;
