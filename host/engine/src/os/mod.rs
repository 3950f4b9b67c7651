//! Access to the operating system: clock and entropy of a host, folders without links, temporary files, private memory.
//!
//! Other modules receive time and randomness as inputs, so that replay is deterministic and tests run without waiting.
//! The test `injected` lists the exceptions.
//!
//! Floors, top first: `machine` · `host_clock` · `clock`, `entropy`, `folders`, `lack`, `private_memory`, `temp_files`.

pub mod clock;
pub mod entropy;
pub mod folders;
mod host_clock;
pub(crate) mod lack;
mod machine;
pub mod private_memory;
pub mod temp_files;

pub use clock::SystemClock;
pub use entropy::{Entropy, SystemEntropy};
pub use host_clock::HostClock;
pub use machine::Machine;
