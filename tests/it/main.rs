//! One binary for all integration tests.

mod hostile;
mod support;
