//! Query plans of the searches for jobs.

use latchwork_core::model::ids::JobId;
use latchwork_core::storage::ClaimExclusions;

use super::fixture::open;
use crate::os::clock::Timestamps;
use crate::sql::dialect::Dialect;
use crate::sql::row::{RowReader, StoredRow};
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::{BoundValue, StatementBatch};
use crate::tables::leases::ClaimTarget;
use crate::tables::timers::due;

/// Returns, for each statement of a statement batch, the lines of SQLite's query plan about the table of jobs.
async fn query_plans(store: &crate::Database, statements: &StatementBatch) -> Vec<Vec<String>> {
    let mut explained = StatementBatch::default();
    for (sql, values) in statements.iter() {
        explained.push(&format!("EXPLAIN QUERY PLAN {sql}"));
        explained.args.extend(values.iter().map(BoundValue::clone));
    }
    let rows = store.readers.run(StatementName::SCHEMA, explained).await.unwrap();
    let of_jobs = |row: &StoredRow| {
        let mut row = RowReader::new(row, "plan");
        let _ = (row.int().unwrap(), row.int().unwrap(), row.int().unwrap());
        let way = row.text().unwrap();
        (way.contains(" jobs") || way.contains(" j ") || way.ends_with(" j")).then_some(way)
    };
    rows.iter().map(|rows| rows.iter().filter_map(of_jobs).collect()).collect()
}

/// I124: a search for jobs never scans the whole table, nor an index that contains jobs which the search does not need.
#[tokio::test]
async fn job_searches_use_their_indexes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("latch.db")).await;
    let now = Timestamps { now_us: 5, boot_us: 5, boot_id: Some("boot".to_owned()) };
    let (any, one) = (ClaimTarget::Any(ClaimExclusions::default()), ClaimTarget::Job(JobId::from("job_a")));
    let claimable = "SCAN j USING INDEX jobs_claimable";
    let by_id = "SEARCH j USING INDEX sqlite_autoindex_jobs_1 (job_id=?)";
    let next = "SEARCH jobs USING COVERING INDEX jobs_waking";
    let looks = query_plans(&store, &any.search(Dialect::Sqlite, Some(&now), "boot")).await;
    assert_eq!(looks, [vec![claimable], vec!["SCAN j USING INDEX jobs_running"], vec![next]]);
    let looks = query_plans(&store, &one.search(Dialect::Sqlite, Some(&now), "boot")).await;
    assert_eq!(looks, [vec![by_id], vec![by_id], vec![next]]);
    assert_eq!(query_plans(&store, &any.select_first(Dialect::Sqlite, &now, "[]")).await, [[claimable]]);
    assert_eq!(query_plans(&store, &one.select_first(Dialect::Sqlite, &now, "[]")).await, [[by_id]]);
    let of_timer = "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)";
    let waited = "SEARCH j USING COVERING INDEX jobs_waking (wake_at_us<?)";
    assert_eq!(query_plans(&store, &due(Dialect::Sqlite, 5)).await, [[of_timer], [waited]]);
}
