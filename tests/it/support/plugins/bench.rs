//! Folder of the benchmark, with built plugins.

use crate::support::checkout;
use crate::support::test_env::build_plugin;

/// Returns a folder with the benchmark's configuration.
pub(crate) fn bench_folder() -> tempfile::TempDir {
    let examples = checkout::copy().join("example-plugins");
    let folder = tempfile::tempdir().unwrap();
    let mut config = std::fs::read_to_string(examples.join("bench/latch.toml")).unwrap();
    for plugin in ["bench-rust", "bench-tool-rust"] {
        let component = build_plugin(&examples.join(plugin));
        let before = config.clone();
        config = config.replace(&format!("\"../{plugin}\""), &format!("{component:?}"));
        assert_ne!(config, before, "{plugin} is configured");
    }
    std::fs::write(folder.path().join("latch.toml"), config).unwrap();
    folder
}
