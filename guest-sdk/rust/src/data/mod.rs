//! Data that plugins exchange with the host.

pub(crate) mod fs;
pub(crate) mod http;
mod level;
mod timestamp;

pub use level::Level;
pub use timestamp::Timestamp;
