//! Commands for plugin authors: schemas, single calls, new projects, and `latch dev`, which watches a
//! project.

mod first_session;

mod call;
mod dev;
mod init;
mod schema;
