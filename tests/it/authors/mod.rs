//! Commands for plugin authors: schemas, single calls, new projects, and `latch dev`, which watches a
//! project.

mod call;
mod dev;
mod first_session;
mod init;
mod schema;
