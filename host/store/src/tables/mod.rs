//! Tables: the statements of each table, and the work that reads and writes it.

pub(crate) mod actions;
pub(crate) mod awaited;
pub(crate) mod costs;
pub(crate) mod effects;
pub(crate) mod events;
pub(crate) mod group_state;
pub(crate) mod inbox;
pub(crate) mod jobs;
pub(crate) mod kv;
pub(crate) mod leases;
pub(crate) mod ledger;
pub(crate) mod payloads;
pub(crate) mod record;
pub(crate) mod reusables;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod submit;
pub(crate) mod timers;
