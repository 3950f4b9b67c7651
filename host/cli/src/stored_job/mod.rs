//! A stored job: loading, display, and requests to its inbox.
//!
//! Floors, top first: `display` · `load`, `request`.

pub(crate) mod display;
pub(crate) mod load;
pub(crate) mod request;
