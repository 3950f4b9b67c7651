//! Author commands: schemas, single calls, new projects, and the loop that watches them.

mod first_session;

mod call;
mod dev;
mod init;
mod schema;
