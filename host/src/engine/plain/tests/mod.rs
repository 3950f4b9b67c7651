//! Plain components made of WIT alone: what they load as, and how their values are converted.

pub(crate) mod load;
pub(crate) mod made;
mod mapping;
