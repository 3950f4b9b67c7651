//! Servers of PostgreSQL for tests, and proxies in front of them.

pub(crate) mod proxy;
pub(crate) mod server;
pub(crate) mod wire;
