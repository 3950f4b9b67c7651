//! Configuration: `latch.toml`, environment and flags, as one validated [`Config`].

mod types;

pub use types::*;
