//! `latch bench --server` produces measurements. The test does not check their values.

use serde_json::json;

use super::live::blocking_database;
use crate::flushes::bench_folder;
use crate::place::TestEnv;
use crate::program::run_latch;

/// I95: the benchmark runs as many worker processes as it reports. It refuses a database with jobs of others.
#[test]
fn workers_are_measured_on_a_database_of_their_own() {
    let Some(url) = blocking_database() else { return };
    let folder = bench_folder();
    let args = ["bench", ".", "--server", &url, "--workers", "2", "--queue", "20", "--seconds", "1", "--json"];
    // Jobs of an earlier benchmark do not interfere.
    for _ in 0..2 {
        let ran = run_latch(folder.path(), &args);
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        let document = ran.json();
        let row = &document["workers"][0];
        assert_eq!((&row["workers"], &row["jobs"], &row["workload"]), (&json!(2), &json!(20), &json!("ten")));
        assert!(row["per_second"].as_f64() > Some(0.0), "{document:#}");
        // pgbench is installed with the server that the tests start.
        assert!(row["of_five_rows"].as_f64() > Some(0.0), "{document:#} {}", ran.stderr);
    }
    let mut place = TestEnv::witness("atomic").with_database(&url);
    // The environment has other plugins than the benchmark, whose jobs are in the database too.
    place.skip_replay_of_many_jobs();
    crate::workers::submit_detached(&place);
    let refused = run_latch(folder.path(), &args);
    assert_eq!(refused.code, 2, "{} {}", refused.stdout, refused.stderr);
    assert!(refused.stdout.contains("other jobs"), "{}", refused.stdout);
}
