//! Golden file of the schema.

use std::fs;
use std::path::Path;

#[tokio::test]
async fn schema_matches_golden_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = super::fixture::open(&dir.path().join("latch.db")).await;
    let schema = store.schema().await.unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/sqlite.sql");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &schema).unwrap();
    }
    let recorded = fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(recorded, schema, "run with UPDATE_GOLDEN=1 to record it");
}

/// Every migration file is in the list of migrations. A file that is missing in the list would never run.
#[test]
fn every_migration_is_run() {
    for (of, listed) in
        [("sqlite", crate::open::migrations::MIGRATIONS), ("postgres", crate::open::migrations::POSTGRES_MIGRATIONS)]
    {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(of);
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = names.collect();
        files.sort();
        let listed = listed.iter().map(|(number, name, _)| format!("{number:04}_{name}.sql"));
        assert_eq!(files, listed.collect::<Vec<_>>());
    }
}
