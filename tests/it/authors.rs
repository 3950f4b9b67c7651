//! Author commands: schemas, single calls, new projects, and the loop that watches them.

mod call;
mod dev;
mod first;
mod init;
mod schema;
