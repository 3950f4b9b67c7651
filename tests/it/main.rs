//! The integration tests: one binary.

mod conformance;
