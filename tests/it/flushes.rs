//! What a durable call costs is counted: flushes and statements, never times.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::place::built;
use crate::program::{latch, ran};

/// A folder with the benchmark's configuration.
fn bench() -> tempfile::TempDir {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins");
    let folder = tempfile::tempdir().unwrap();
    let mut config = std::fs::read_to_string(examples.join("bench/latch.toml")).unwrap();
    for plugin in ["bench-rust", "bench-tool-rust"] {
        let component = built(&examples.join(plugin));
        let before = config.clone();
        config = config.replace(&format!("\"../{plugin}\""), &format!("{component:?}"));
        assert_ne!(config, before, "{plugin} is configured");
    }
    std::fs::write(folder.path().join("latch.toml"), config).unwrap();
    folder
}

/// One measurement of one workload.
fn measure(folder: &Path, workload: &str, at_once: u32, preload: Option<(&Path, &Path)>) -> Value {
    let at_once = at_once.to_string();
    let args = ["bench", ".", "--workload", workload, "--at-once", &at_once, "--seconds", "0.05", "--json"];
    let mut command = latch(folder, &args);
    if let Some((shim, log)) = preload {
        command.env("LD_PRELOAD", shim).env("FLUSH_LOG", log);
    }
    let ran = ran(command.output().unwrap());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let document = ran.json();
    let loads = document["loads"].as_array().unwrap();
    assert_eq!(loads.len(), 1, "{document:#}");
    assert!(loads[0]["per_second"].as_f64().unwrap() > 0.0, "{document:#}");
    loads[0].clone()
}

fn flushes(load: &Value) -> f64 {
    load["flushes_per_job"].as_f64().unwrap()
}

/// I36: ten barriers, the end; the commit of a call rides with the barrier of the next.
#[test]
fn ten_keyed_calls_take_one_flush_each_and_two_more() {
    let folder = bench();
    let alone = measure(folder.path(), "ten", 1, None);
    // Fewer would mean that a barrier was not flushed.
    assert!((10.0..=12.0).contains(&flushes(&alone)), "{alone:#}");
    let plan = measure(folder.path(), "ten-plan", 1, None);
    assert!((10.0..=12.0).contains(&flushes(&plan)), "{plan:#}");
}

/// I36
#[test]
fn what_changes_nothing_needs_no_flush_of_its_own() {
    let folder = bench();
    let read = measure(folder.path(), "ten-read", 1, None);
    assert!((1.0..=3.0).contains(&flushes(&read)), "{read:#}");
    let pure = measure(folder.path(), "ten-pure", 1, None);
    assert!((1.0..=2.0).contains(&flushes(&pure)), "{pure:#}");
    let zero = measure(folder.path(), "zero", 1, None);
    assert!((1.0..=2.0).contains(&flushes(&zero)), "{zero:#}");
}

/// I36: jobs of one process share transactions.
#[test]
fn jobs_at_once_share_their_flushes() {
    let folder = bench();
    let many = measure(folder.path(), "ten", 64, None);
    assert!(flushes(&many) <= 3.0, "{many:#}");
    let bytes = many["bytes_per_unit"].as_f64().unwrap();
    assert!(bytes <= 1536.0, "a call of a two-byte result takes {bytes} bytes");
}

/// I36: the counter is held against what the operating system was asked for.
#[test]
fn the_count_of_flushes_is_what_the_disk_sees() {
    let folder = bench();
    let shim = folder.path().join("flushes.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("shims/flushes.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(&source).arg("-ldl").output();
    let compiled = compiled.expect("a C compiler, which Rust needs to link");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let log = folder.path().join("flushes.log");
    let load = measure(folder.path(), "ten", 1, Some((&shim, &log)));
    let noted = std::fs::read_to_string(&log).unwrap();
    let seen = noted.lines().filter(|path| path.ends_with("/ten-1.db-wal")).count() as f64;
    let counted = load["flushes_stored"].as_f64().unwrap();
    assert!(counted >= 10.0, "{load:#}");
    // A log that starts anew is flushed once more, and so are the schema's own transactions.
    assert!(seen >= counted && seen <= counted * 1.02 + 12.0, "counted {counted}, seen {seen}");
}
