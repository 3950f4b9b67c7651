//! Files that a command reads and writes.
//!
//! Floors, top first: `parameters`, `signing_key` · `save`, `source`.

pub(crate) mod parameters;
pub(crate) mod save;
pub(crate) mod signing_key;
pub(crate) mod source;
