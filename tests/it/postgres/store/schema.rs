//! The recorded schema, and errors when a database is opened.

use std::path::Path;

use latchwork_core::storage::Journal;
use latchwork_store::{Database, OpenOptions};

use crate::postgres::open_database;
use crate::support::servers::postgres::server::{database, sql};
use crate::support::store_fixture;

#[tokio::test]
async fn schema_matches_golden_file() {
    let Some(url) = database().await else { return };
    let schema = open_database(&url).await.store.schema().await.unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/store/schema/postgres.sql");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &schema).unwrap();
    }
    let recorded = std::fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(recorded, schema, "run with UPDATE_GOLDEN=1 to record it");
}

#[tokio::test]
async fn worker_needs_no_right_to_create_tables() {
    let Some(url) = database().await else { return };
    let role = format!("plain_{}", std::process::id());
    sql(&url, &format!("CREATE ROLE {role} LOGIN")).await;
    sql(&url, "REVOKE CREATE ON SCHEMA public FROM PUBLIC").await;
    let its_url = url.replace("latch@", &format!("{role}@"));
    let dir = tempfile::tempdir().unwrap();
    let looking = OpenOptions { create: false, ..OpenOptions::server(&its_url, dir.path()) };
    let early = Database::open(looking).await.err().expect("the database has no tables").to_string();
    assert!(early.contains("no Latchwork tables") && early.contains("this user may not create any"), "{early}");
    open_database(&url).await.store.close().await;
    let grant = async |what: &str| drop(sql(&url, &format!("GRANT {what} IN SCHEMA public TO {role}")).await);
    grant("SELECT, INSERT, UPDATE, DELETE ON ALL TABLES").await;
    let plain = open_database(&its_url).await;
    let refused = plain.store.submit(store_fixture::new_job("early")).await.unwrap_err().to_string();
    assert!(refused.contains("USAGE on all sequences"), "{refused}");
    grant("USAGE ON ALL SEQUENCES").await;
    let (mut log, _lock) = crate::postgres::claimed_job(&plain, "plain").await;
    plain.store.write(log.append(1)).await.unwrap();
    plain.store.check_generation().await.unwrap();
    plain.store.close().await;
    sql(&url, &format!("DROP OWNED BY {role}")).await;
    sql(&url, &format!("DROP ROLE {role}")).await;
}

#[tokio::test]
async fn open_errors_are_explained() {
    let Some(url) = database().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let refused = async |options: OpenOptions| match Database::open(options).await {
        Ok(_) => panic!("the database must not open"),
        Err(error) => error.to_string(),
    };
    let looking = OpenOptions { create: false, ..OpenOptions::server(&url, dir.path()) };
    let text = refused(looking).await;
    assert!(text.contains("no Latchwork tables yet"), "{text}");
    assert!(
        sql(&url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'").await.is_empty(),
        "opening for reading created tables"
    );

    let (address, parameters) = url.split_once('?').unwrap();
    let missing = format!("{}_none?{parameters}", address);
    let text = refused(OpenOptions::server(&missing, dir.path())).await;
    assert!(text.contains("_none") && text.contains("createdb"), "{text}");

    let away = "postgres://latch:hunter2@127.0.0.1:1/latch";
    let text = refused(OpenOptions::server(away, dir.path())).await;
    assert!(text.contains("database latch at 127.0.0.1, port 1") && text.contains("cannot reach the server"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");

    open_database(&url).await.store.close().await;
    sql(&url, "INSERT INTO _sqlx_migrations SELECT 9999, description, installed_on, success, checksum, execution_time FROM _sqlx_migrations WHERE version = 1").await;
    let text = refused(OpenOptions::server(&url, dir.path())).await;
    assert!(text.contains("newer version of Latchwork"), "{text}");
}
