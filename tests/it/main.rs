//! The integration tests: one binary.

mod conformance;
mod store_crash;
