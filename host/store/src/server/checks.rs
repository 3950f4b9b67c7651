//! Checks of a PostgreSQL server on each writing connection. The server must keep acknowledged writes, accept writes,
//! and be the accepted server.
//!
//! A server is identified by its system identifier, its timeline and the number of its database. A dump that was loaded
//! again has another database number. A recovered backup and a promoted standby have another timeline. These checks do
//! not apply to SQLite.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use latchwork_core::storage::StoreError;

use crate::server::high_water::{DatabasePosition, HighWaterMark, KnownPositions};
use crate::sql::connection::Connection;
use crate::sql::dialect::Dialect;
use crate::sql::durability::CommitDurability;
use crate::sql::error::store_error;
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;

/// Oldest supported server version.
const VERSION_MIN: i64 = 130_000;

const GREETING: &str = "SELECT current_setting('synchronous_commit'), current_setting('fsync'), \
    current_setting('full_page_writes'), current_setting('transaction_read_only'), pg_is_in_recovery(), \
    CAST(current_setting('server_version_num') AS BIGINT), split_part(current_setting('server_version'), ' ', 1), \
    current_setting('synchronous_standby_names'), COALESCE((SELECT version || ' ' || cipher FROM pg_stat_ssl WHERE pid \
    = pg_backend_pid() AND ssl), ''), (SELECT CAST(system_identifier AS TEXT) FROM pg_control_system()), CASE WHEN \
    pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END, (SELECT CAST(oid AS TEXT) \
    FROM pg_database WHERE datname = current_database()), concat_ws('-', pg_backend_pid(), \
    (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT, random())";

/// Identity of a database: server, timeline and database number. Empty on SQLite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerIdentity {
    system: String,
    timeline: String,
    database: String,
}

impl ServerIdentity {
    /// Returns the identity as the database stores it.
    pub(crate) fn text(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        format!("{}/{}/{}", self.system, self.timeline, self.database)
    }

    /// Returns true if this is the same database as `stored` on a later timeline.
    fn is_successor_of(&self, stored: &str) -> bool {
        let mut parts = stored.split('/');
        let (Some(system), Some(timeline), Some(database), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        // Timelines have eight hexadecimal digits, so text comparison is correct.
        (system, database) == (&*self.system, &*self.database) && timeline < &*self.timeline
    }
}

/// Properties of the server, read on the last connection.
#[derive(Clone, Debug, Default)]
struct ServerFacts {
    identity: ServerIdentity,
    /// True if commits wait for a standby.
    waits_for_standby: bool,
    about: String,
    /// Unique id of the last connection, given by the server.
    connection_id: Option<String>,
    /// Number of connections made.
    connections: u64,
    /// True if the identity on the last connection is the accepted identity.
    accepted: bool,
}

/// The PostgreSQL server that holds the database, with its properties on the last connection.
pub(crate) struct Server {
    durability: CommitDurability,
    /// True if a promoted standby is trusted to have every acknowledged write.
    trusts_standby: bool,
    high_water: Arc<HighWaterMark>,
    facts: Mutex<ServerFacts>,
}

impl Server {
    pub(crate) fn new(durability: CommitDurability, synchronous: bool, high_water: Arc<HighWaterMark>) -> Self {
        Self { durability, trusts_standby: synchronous, high_water, facts: Mutex::default() }
    }

    fn lock_facts(&self) -> MutexGuard<'_, ServerFacts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the identity of the database on the last connection.
    pub(crate) fn identity(&self) -> ServerIdentity {
        self.lock_facts().identity.clone()
    }

    /// Returns the unique id of the last connection. `None` on SQLite.
    pub(crate) fn connection_id(&self) -> Option<String> {
        self.lock_facts().connection_id.clone()
    }

    /// Returns the number of writing connections made.
    pub(crate) fn connections(&self) -> u64 {
        self.lock_facts().connections
    }

    /// Returns a description of the server for people. Empty on SQLite.
    pub(crate) fn about(&self) -> String {
        self.lock_facts().about.clone()
    }

    /// Reads and checks the properties of the server on a new connection.
    pub(crate) async fn check_connection(
        &self,
        executor: &StatementExecutor,
        conn: &mut Connection,
    ) -> Result<(), StoreError> {
        let Connection::Postgres(_) = conn else { return Ok(()) };
        let rows = executor
            .run(conn, StatementName::SETTINGS, StatementBatch::new(GREETING))
            .await
            .map_err(|error| store_error(&error))?;
        let mut row = RowReader::new(&rows[0][0], "settings");
        let (commit, fsync, pages) = (row.text()?, row.text()?, row.text()?);
        let (read_only, standby) = (row.text()? == "on", row.bool()?);
        let (number, version, standbys, tls) = (row.int()?, row.text()?, row.text()?, row.text()?);
        let place = ServerIdentity { system: row.text()?, timeline: row.text()?, database: row.text()? };
        let writer = Some(row.text()?);
        if number < VERSION_MIN {
            return Err(StoreError::Unavailable(format!(
                "the server is PostgreSQL {version}; the oldest supported version is 13"
            )));
        }
        if standby || read_only {
            let what = if standby { "it is a standby" } else { "default_transaction_read_only is on" };
            return Err(StoreError::Unavailable(format!("it is read-only ({what}): connect to the primary, or wait")));
        }
        self.durability.judge_server(&commit, &fsync, &pages)?;
        let encrypted = if tls.is_empty() { "not encrypted".to_owned() } else { tls };
        let waits = if standbys.is_empty() { "no standby".to_owned() } else { format!("standbys {standbys}") };
        let about = format!(
            "PostgreSQL {version}, {encrypted}, synchronous_commit={commit}, fsync={fsync}, \
             full_page_writes={pages}, {waits}"
        );
        let mut facts = self.lock_facts();
        *facts = ServerFacts {
            identity: place,
            connection_id: writer,
            waits_for_standby: !standbys.is_empty(),
            about,
            connections: facts.connections + 1,
            accepted: false,
        };
        Ok(())
    }

    /// Returns the reason why no work may be started on this connection: the server is not the accepted server, the
    /// database is behind the high-water mark, or one of these facts cannot be checked. After a successful check, the
    /// connection is not checked again.
    pub(crate) async fn restore_refusal(
        &self,
        executor: &StatementExecutor,
        conn: &mut Connection,
    ) -> Option<StoreError> {
        let Connection::Postgres(_) = conn else { return None };
        if self.lock_facts().accepted {
            return None;
        }
        let known = match self.high_water.known_positions() {
            Ok(known) => known,
            Err(error) => return Some(error),
        };
        let (server, last) = (Dialect::ACCEPTED_SERVER, Dialect::LAST_TRANSACTION);
        let statements = StatementBatch::new(&format!("SELECT {server}, accepted, {last} FROM meta WHERE id = 1"));
        let judged = match executor.run(conn, StatementName::GENERATION_READ, statements).await {
            Ok(rows) => match rows.iter().flatten().next() {
                Some(row) => self.check_row(&known, RowReader::new(row, "meta")),
                None => Err(StoreError::Damaged("table meta: it is empty".to_owned())),
            },
            Err(error) => Err(store_error(&error)),
        };
        self.lock_facts().accepted = judged.is_ok();
        judged.err()
    }

    fn check_row(&self, known: &KnownPositions, mut row: RowReader<'_>) -> Result<(), StoreError> {
        self.check_identity(&row.text()?)?;
        self.check_position(known, DatabasePosition { accepted: row.int()?, number: row.int()? })
    }

    /// Checks that the database is not behind a known position. `reached` is the position of the database. The caller
    /// must read `reached` after `known`. In the reverse order, transactions written between the two reads would seem
    /// to be missing.
    pub(crate) fn check_position(&self, known: &KnownPositions, reached: DatabasePosition) -> Result<(), StoreError> {
        if !self.high_water.is_behind(known, reached)? {
            return Ok(());
        }
        Err(restored_error("a backup was restored: it lacks the last transactions made here"))
    }

    /// Checks that the server is the accepted server `stored`, or a trusted successor of it.
    pub(crate) fn check_identity(&self, stored: &str) -> Result<(), StoreError> {
        let facts = self.lock_facts();
        let place = facts.identity.text();
        if place == stored || (self.trusts_standby && facts.waits_for_standby && facts.identity.is_successor_of(stored))
        {
            return Ok(());
        }
        let what = if stored == Dialect::LOADED {
            "a dump was loaded into it".to_owned()
        } else {
            let what = match facts.identity.is_successor_of(stored) {
                true => "another server took over, or a backup was recovered: its timeline is a later one",
                false => "it was restored or copied from elsewhere",
            };
            format!("{what} (it is {place}, last used was {stored})")
        };
        Err(restored_error(&what))
    }
}

/// Returns the error for a database that is not the database last used here.
pub(crate) fn restored_error(what: &str) -> StoreError {
    StoreError::Restored(format!(
        "{what}; nothing is executed until this is accepted (`latch doctor --accept-restore`), because calls made since may \
         be unknown to it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(place: (&str, &str, &str), synchronous: bool, standbys: bool) -> Server {
        let high_water = Arc::new(HighWaterMark::new(std::path::Path::new("/nowhere"), 1));
        let server = Server::new(CommitDurability::Full, synchronous, high_water);
        let place =
            ServerIdentity { system: place.0.to_owned(), timeline: place.1.to_owned(), database: place.2.to_owned() };
        *server.lock_facts() = ServerFacts { identity: place, waits_for_standby: standbys, ..ServerFacts::default() };
        server
    }

    #[test]
    fn only_synchronous_standby_of_same_server_may_take_over() {
        let now = ("71", "00000002", "5");
        assert_eq!(server(now, false, false).check_identity("71/00000002/5"), Ok(()));
        let restored = |server: &Server, stored| matches!(server.check_identity(stored), Err(StoreError::Restored(_)));
        for (synchronous, standbys) in [(false, false), (true, false), (false, true)] {
            assert!(restored(&server(now, synchronous, standbys), "71/00000001/5"), "{synchronous} {standbys}");
        }
        let trusted = server(now, true, true);
        assert_eq!(trusted.check_identity("71/00000001/5"), Ok(()));
        for other in ["71/00000003/5", "72/00000001/5", "71/00000001/6", "71/00000002/6", "", "71"] {
            assert!(restored(&trusted, other), "{other}");
        }
        assert!(trusted.check_identity("71/00000003/5").unwrap_err().to_string().contains("--accept-restore"));
    }
}
