//! Servers that tests start: HTTP, models, a witness of requests, and PostgreSQL.

pub(crate) mod http;
pub(crate) mod llm_provider;
pub(crate) mod postgres;
pub(crate) mod witness;
