//! The store on a server: concurrent statements, clocks, and other servers.

mod claim_reads;
mod differential;
mod maps;
mod races;
mod restored_backups;
mod row_locks;
mod schema;
mod server_clock;
