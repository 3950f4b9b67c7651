//! Server of a database: its identity, its notifications, and the high-water mark that it must reach.

pub(crate) mod checks;
pub(crate) mod high_water;
pub(crate) mod listener;
