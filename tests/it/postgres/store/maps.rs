//! Key-value maps on a server: several writers, and databases from before tenants had maps of their own.

use latchwork_core::storage::{Journal, KeyValue, MapName, SetError};
use sqlx::Row;

use crate::postgres::open_database;
use crate::support::servers::postgres::server::{database, sql};
use crate::support::store_fixture::new_job;

/// Number of workers.
const WORKERS: usize = 4;
/// Number of rounds of each worker.
const ROUNDS: usize = 40;
/// Quota that the workers reach: room for three entries. An entry counts its key (5 bytes), its value (1 to 11 bytes) and
/// 64 bytes for its storage.
const QUOTA: u64 = 3 * 80;

/// Maps whose counted bytes differ from the bytes of their entries or exceed the quota.
const WRONG_MAPS: &str = "SELECT m.tenant FROM kv_maps m WHERE m.bytes > 240 OR m.bytes <> COALESCE((SELECT \
    SUM(length(e.key) + length(e.value) + 64) FROM kv_entries e WHERE e.tenant = m.tenant AND e.namespace = m.namespace), 0)";

/// I233: several workers fill and empty two maps, and different workers use the maps in a different order. The counted
/// bytes always equal the bytes of the entries, and no map exceeds its quota. No write fails because of a deadlock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_of_maps_are_exact_with_several_writers() {
    let Some(url) = database().await else { return };
    let own = |tenant| MapName::of_tenant(tenant, "n").unwrap();
    let maps = [own("acme"), own("umbrella")];
    let mut tasks = Vec::new();
    for number in 0..WORKERS {
        let opened = open_database(&url).await;
        let (first, second) = (maps[number % 2].clone(), maps[(number + 1) % 2].clone());
        tasks.push(tokio::spawn(async move {
            let store = &opened.store;
            let mut refused = 0;
            for round in 0..ROUNDS {
                let key = format!("w{number}k{:02}", round % 3);
                let value = vec![7; 1 + (round + number) % 11];
                // Both writes and the deletion are in one group.
                let gone = format!("w{number}k{:02}", (round + 1) % 3);
                let (a, b, deleted) = tokio::join!(
                    store.set(&first, &key, &value, QUOTA),
                    store.set(&second, &key, &value, QUOTA),
                    store.delete(&first, &gone)
                );
                deleted.unwrap();
                for set in [a, b] {
                    match set {
                        Ok(()) => {}
                        Err(SetError::Quota(_)) => refused += 1,
                        Err(SetError::Store(error)) => panic!("{error}"),
                    }
                }
            }
            store.close().await;
            refused
        }));
    }
    let mut refused = 0;
    for task in tasks {
        refused += task.await.unwrap();
    }
    assert!(refused > 0, "no write reached the quota");
    assert!(!sql(&url, "SELECT 1 FROM kv_entries").await.is_empty(), "no write was done");
    assert_eq!(sql(&url, WRONG_MAPS).await.len(), 0);
    let deadlocks = sql(&url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").await;
    assert_eq!(deadlocks[0].get::<i64, _>(0), 0);
}

/// I235.
#[tokio::test]
async fn old_keys_become_the_map_of_the_only_tenant_or_of_all() {
    for (tenants, owner) in [(&["acme"][..], Some("acme")), (&["acme", "umbrella"], None), (&[], None)] {
        let Some(url) = database().await else { return };
        let opened = open_database(&url).await;
        for tenant in tenants {
            for name in ["one", "two"] {
                let mut job = new_job(&format!("{name}_{tenant}"));
                job.row.tenant_id = (*tenant).to_owned();
                opened.store.submit(job).await.unwrap();
            }
        }
        opened.store.close().await;
        for text in [
            "DROP TABLE kv_entries",
            "DROP TABLE kv_maps",
            "CREATE TABLE kv (namespace BYTEA NOT NULL, key BYTEA NOT NULL, value BYTEA NOT NULL, PRIMARY KEY (namespace, \
             key))",
            "INSERT INTO kv VALUES ('m', 'k', 'old'), ('m', convert_to('ä', 'UTF8'), 'v')",
            "DELETE FROM _sqlx_migrations WHERE version = 10",
        ] {
            sql(&url, text).await;
        }
        let store = open_database(&url).await.store;
        let map = owner.map_or_else(|| MapName::shared("m"), |tenant| MapName::of_tenant(tenant, "m").unwrap());
        assert_eq!(store.get(&map, "k").await.unwrap().as_deref(), Some(&b"old"[..]), "{tenants:?}");
        let shared = if owner.is_none() { vec![("m".to_owned(), 135)] } else { vec![] };
        assert_eq!(store.shared_maps().await.unwrap(), shared, "{tenants:?}");
        assert_eq!(sql(&url, WRONG_MAPS).await.len(), 0, "{tenants:?}");
    }
}
