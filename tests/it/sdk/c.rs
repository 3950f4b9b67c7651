//! The SDK for C.

use crate::support::plugins::sdk_tools::run_latch;

/// The compiler warns of a failure of the map that a tool does not look at. The new project has no warning.
#[test]
fn unused_result_of_the_map_is_a_warning_of_the_build() {
    let parent = tempfile::tempdir().unwrap();
    let new = run_latch(parent.path(), &["plugin", "new", "notes", "--lang", "c", "--kind", "tool"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    let build = || {
        let built = run_latch(parent.path(), &["plugin", "build", "notes"]);
        assert_eq!(built.code, 0, "{}", built.stderr);
        built.stderr
    };
    let quiet = build();
    assert!(!quiet.contains("warning:"), "{quiet}");
    let source = parent.path().join("notes/plugin.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let ignored = text.replace(
        "return latch_kv_set(answer, key, note.bytes) && kept",
        "latch_kv_set(answer, key, note.bytes);\n  return kept",
    );
    assert_ne!(ignored, text);
    std::fs::write(&source, ignored).unwrap();
    let warned = build();
    assert!(warned.contains("warning: ignoring return value of function"), "{warned}");
}
