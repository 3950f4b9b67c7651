//! The stores of Latchwork: journal, effects and key-value map, in a SQLite file or on a PostgreSQL server.
//!
//! - Every statement goes through one function. [`STATEMENTS`] lists the statement names, and a [`Probe`] observes
//!   them.
//! - One task per open database does all the writing. It groups queued work into one transaction (group
//!   commit).
//! - `latchwork_core::storage::admit` decides whether a batch is admitted. This crate only reads the stored data, calls
//!   that module, and writes the result.
//! - The SQL is the same text for both databases. [`Dialect`] contains the differences.
//! - SQLite: leases and deadlines use the machine's boot-time clock. The WAL of SQLite needs shared memory, so all
//!   processes of one database run on one machine.
//! - PostgreSQL: leases and deadlines use the server's clock, and processes run on any machine. A group locks
//!   its jobs before it reads. A claim skips jobs that another worker is claiming. Notifications wake workers
//!   that wait for jobs or inbox rows.
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle.
//!
//! | floor | content |
//! |---|---|
//! | `database` | the open database, its opening, and its implementations of the interfaces of the kernel |
//! | `open` | preparation of a database: options, paths, migrations and read-only files |
//! | `generation` | detection of a restored or cloned database |
//! | `write` | group commit: the queue, its task, and the decision about each batch |
//! | `tables` | statements of each table, and the work that reads and writes it |
//! | `transaction` | an open transaction: work, locks and commit markers |
//! | `server` | checks of the server, notifications, and the high-water mark |
//! | `measure` | commit rate of SQLite on a disk |
//! | `sql` | dialects, statements, connections, rows, errors and durability |
//! | `os` | clocks, lock files and crash points |

mod database;
mod generation;
mod measure;
mod open;
mod os;
mod server;
mod sql;
mod tables;
mod transaction;
mod write;

pub use database::handle::Database;
pub use generation::times_used;
pub use measure::commits_per_second;
pub use open::connect_options::server_name;
pub use open::migrations::NO_TABLES;
pub use open::options::{DatabaseTarget, OpenOptions};
pub use os::clock::StoreClock;
#[cfg(feature = "crash-points")]
pub use os::kill::KillAt;
pub use os::owner::{OwnerLock, is_owner_dead};
pub use os::probe::{NoProbe, Probe, Side};
pub use sql::dialect::Dialect;
pub use sql::durability::CommitDurability;
pub use sql::statement::{POSTGRES_STATEMENTS, STATEMENTS};

#[cfg(test)]
mod tests;
