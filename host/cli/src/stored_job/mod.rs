//! A stored job: loading, display, and requests to its inbox.

pub(crate) mod display;
pub(crate) mod load;
pub(crate) mod request;
