//! Restored backups of a server: loaded dumps, and restored data files.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::Row;

use latchwork_core::storage::{BatchKind, Journal, StoreError, WriteError};
use latchwork_store::{Database, OpenOptions, OwnerLock};

use crate::postgres::{OpenedDatabase, claimed_job, lease_request, open_database};
use crate::support::servers::postgres::server::{Server, sql};
use crate::support::store_fixture::{LogWriter, new_job};

/// Opens a database, claims a job and writes a barrier. A backup that is taken afterwards contains unfinished work.
async fn database_at_work(server: &Server) -> (OpenedDatabase, LogWriter, OwnerLock) {
    let opened = open_database(&server.url()).await;
    let (mut log, lock) = claimed_job(&opened, "one").await;
    write_barrier(&opened, &mut log).await.unwrap();
    (opened, log, lock)
}

/// Writes a barrier, after which a call may begin.
async fn write_barrier(opened: &OpenedDatabase, log: &mut LogWriter) -> Result<(), WriteError> {
    let mut batch = log.append(1);
    batch.writes.kind = BatchKind::START_CALLS;
    opened.store.write(batch).await
}

/// Opens the database again on the same machine, as a new process.
async fn reopened(server: &Server, before: OpenedDatabase) -> OpenedDatabase {
    let store = Database::open(OpenOptions::server(server.url(), before.dir.path())).await.unwrap();
    OpenedDatabase { store, dir: before.dir }
}

async fn reports_restore(opened: &OpenedDatabase) -> bool {
    static CLAIM_NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("asks{}", CLAIM_NUMBER.fetch_add(1, Ordering::Relaxed));
    let (claimer, _lock) = lease_request(opened.dir.path(), &name);
    let claimed = opened.store.claim(&claimer).await;
    let found = matches!(claimed, Err(StoreError::Restored(_)));
    assert_eq!(found, opened.store.check_generation().await.is_err(), "{claimed:?}");
    found
}

fn run_command(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn dump_database(server: &Server, file: &str) {
    let mut command = server.command("pg_dump");
    run_command(command.args(["-U", "latch", "-Fc", "-f", file, "-h"]).arg(server.socket_dir()).arg("postgres"));
}

fn load_dump(server: &Server, file: &str, how: &[&str]) {
    let mut command = server.command("pg_restore");
    run_command(command.args(["-U", "latch", "-d", "postgres", "-h"]).arg(server.socket_dir()).args(how).arg(file));
}

/// I122: a dump that was taken during work is loaded into the same database. Three parties detect the restore: a
/// connected process, the machine that worked with the database, and a machine that opens the database for the first
/// time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loaded_dump_is_noticed_by_every_machine() {
    for how in [&["--clean", "--if-exists"][..], &["--data-only"]] {
        let Some(server) = tokio::task::block_in_place(Server::start) else { return };
        let (opened, mut log, _lock) = database_at_work(&server).await;
        dump_database(&server, "taken");
        let mut before = log.clone();
        write_barrier(&opened, &mut log).await.unwrap();
        if how == ["--data-only"] {
            let tables = "SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = 'public'";
            let tables: String = sql(&server.url(), tables).await[0].get(0);
            sql(&server.url(), &format!("TRUNCATE {tables}")).await;
        }
        load_dump(&server, "taken", how);
        // The database is in the state of the dump again, and this state does not contain the start of the call. The
        // call must not begin a second time.
        let refused = write_barrier(&opened, &mut before).await;
        assert!(matches!(refused, Err(WriteError::Restored(_))), "{how:?}: {refused:?}");
        opened.store.close().await;
        let known = reopened(&server, opened).await;
        assert!(reports_restore(&known).await, "{how:?}");
        let new = open_database(&server.url()).await;
        assert!(reports_restore(&new).await, "{how:?}");
        // Submissions succeed before the restore is accepted, and do not accept the restore.
        for name in ["two", "three", "four"] {
            known.store.submit(new_job(name)).await.unwrap();
        }
        assert!(reports_restore(&reopened(&server, known).await).await, "{how:?}");
        new.store.accept_restore().await.unwrap();
        assert!(!reports_restore(&new).await, "{how:?}");
        assert!(!reports_restore(&open_database(&server.url()).await).await, "{how:?}");
    }
}

/// I122: the server's data files are replaced by an earlier copy of the same timeline. A machine that worked with the
/// database detects the restore.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_server_files_are_noticed() {
    let Some(server) = tokio::task::block_in_place(Server::start) else { return };
    let (opened, mut log, _lock) = database_at_work(&server).await;
    let copy = server.socket_dir().join("copy");
    tokio::task::block_in_place(|| {
        server.stop();
        server.run();
    });
    write_barrier(&opened, &mut log).await.unwrap();
    assert!(!reports_restore(&opened).await, "a crash is not a restore");
    tokio::task::block_in_place(|| {
        server.stop();
        copy_directory(&server.data_dir(), &copy);
        server.run();
    });
    // The copy lacks only this write, so only this write reveals the restore. No process opens the database between
    // this write and the restore.
    write_barrier(&opened, &mut log).await.unwrap();
    tokio::task::block_in_place(|| {
        server.stop();
        std::fs::remove_dir_all(server.data_dir()).unwrap();
        copy_directory(&copy, &server.data_dir());
        server.run();
    });
    opened.store.submit(new_job("next")).await.unwrap();
    assert!(reports_restore(&opened).await, "noticed by the connected process");
    opened.store.close().await;
    let known = reopened(&server, opened).await;
    assert!(reports_restore(&known).await);
    for name in ["two", "three", "four", "five"] {
        known.store.submit(new_job(name)).await.unwrap();
    }
    let known = reopened(&server, known).await;
    assert!(reports_restore(&known).await, "submissions do not hide the restore");
    known.store.accept_restore().await.unwrap();
    assert!(!reports_restore(&known).await);
}

/// Copies a directory with its owners, permissions and times.
fn copy_directory(from: &Path, to: &Path) {
    run_command(Command::new("cp").arg("-a").arg(from).arg(to));
}
