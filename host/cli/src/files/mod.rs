//! Files that a command reads and writes.

pub(crate) mod parameters;
pub(crate) mod save;
pub(crate) mod signing_key;
pub(crate) mod source;
