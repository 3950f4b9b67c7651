//! Jobs that a command executes: submission, attachment, questions about gates, and the result.
//!
//! Floors, top first: `submit` · `result`, `settle` · `attach`, `gates`, `messages`.

pub(crate) mod attach;
pub(crate) mod gates;
pub(crate) mod messages;
pub(crate) mod result;
pub(crate) mod settle;
pub(crate) mod submit;
