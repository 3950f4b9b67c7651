//! Preparation of a database for opening: options, paths, migrations and read-only files.

pub(crate) mod connect_options;
pub(crate) mod migrations;
pub(crate) mod new_database;
pub(crate) mod options;
pub(crate) mod paths;
pub(crate) mod read_only;
