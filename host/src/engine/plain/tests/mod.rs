//! Plain components made of WIT alone: what they load as, and how their values are converted.

mod load;
mod made;
mod mapping;
