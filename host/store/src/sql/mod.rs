//! The only way to the database: SQL texts, connections, statements, rows and errors.

pub(crate) mod connection;
pub(crate) mod dialect;
pub(crate) mod durability;
pub(crate) mod error;
pub(crate) mod readers;
pub(crate) mod row;
pub(crate) mod statement;
pub(crate) mod statement_batch;
