//! Helpers near the operating system: clocks, lock files and crash points.

pub(crate) mod clock;
pub(crate) mod dead_owners;
pub(crate) mod file_lock;
#[cfg(feature = "crash-points")]
pub(crate) mod kill;
pub(crate) mod owner;
pub(crate) mod private_files;
pub(crate) mod probe;
pub(crate) mod sweep;
