//! `latch bench --server` produces measurements. The test does not check their values.

use serde_json::json;

use crate::support::database::blocking_database;
use crate::support::plugins::bench::bench_folder;
use crate::support::program::run_latch;
use crate::support::running_worker;
use crate::support::test_env::TestEnv;

/// I95: the benchmark runs as many worker processes as it reports. It refuses a database that contains jobs
/// which no benchmark created.
#[test]
fn benchmark_measures_workers_on_its_own_database_only() {
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
        // This value is measured with pgbench, which is installed together with the server that the tests start.
        assert!(row["of_five_rows"].as_f64() > Some(0.0), "{document:#} {}", ran.stderr);
    }
    let mut place = TestEnv::witness("atomic").with_database(&url);
    // Turns off the replay of all jobs at the end of the test. The database also has jobs of the benchmark, and this
    // environment lacks the plugins of these jobs.
    place.skip_replay_of_many_jobs();
    running_worker::submit_detached(&place);
    let refused = run_latch(folder.path(), &args);
    assert_eq!(refused.code, 2, "{} {}", refused.stdout, refused.stderr);
    assert!(refused.stdout.contains("other jobs"), "{}", refused.stdout);
}
