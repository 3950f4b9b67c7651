//! Jobs that a command executes: submission, attachment, questions about gates, and the result.

pub(crate) mod attach;
pub(crate) mod gates;
pub(crate) mod messages;
pub(crate) mod result;
pub(crate) mod settle;
pub(crate) mod submit;
