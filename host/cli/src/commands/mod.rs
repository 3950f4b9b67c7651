//! The commands, one file or folder each. No command imports another command.

pub(crate) mod bench;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod job;
pub(crate) mod key;
pub(crate) mod man;
pub(crate) mod plan;
pub(crate) mod plugin;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod verify;
pub(crate) mod worker;
