//! The integration tests: one binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, and the panic says where")]

mod conformance;
mod store_crash;
