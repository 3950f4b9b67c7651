//! The SDK for C.

use crate::support::plugins::sdk_tools::run_latch;

/// A map function may fail, so the compiler warns if a tool ignores the function's result. A new project causes no such
/// warning.
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

/// If a handler fails after a failed call, its answer has only the fields of its own failure.
#[test]
fn failure_of_a_handler_has_no_field_of_an_earlier_call() {
    let dir = tempfile::tempdir().unwrap();
    let source = r#"
        #include "latchwork/answer.h"

        int main(void) {
          latch_answer answer = { 0 };
          /* As latch_call records a failed call. */
          latch_passing(&answer, LATCH_RATE_LIMIT, "too many calls");
          answer.retry_after_ms = 2000;
          answer.detail = "{\"limit\":3}";
          latch_fail(&answer, LATCH_INVALID_INPUT, "no name");
          if (answer.retry_after_ms || answer.detail || answer.applied_unknown) return 1;
          answer.retry_after_ms = 500;
          latch_fail(&answer, LATCH_NETWORK_TIMEOUT, "no answer");
          return answer.retry_after_ms != 500 || !answer.applied_unknown;
        }
    "#;
    std::fs::write(dir.path().join("fields.c"), source).unwrap();
    let sdk = crate::support::checkout::root().join("guest-sdk/c");
    let mut compiler = std::process::Command::new("cc");
    compiler.current_dir(dir.path()).arg("-I").arg(sdk).args(["-o", "fields", "fields.c", "-lm"]);
    let compiled = compiler.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ended = std::process::Command::new(dir.path().join("fields")).status().unwrap();
    assert_eq!(ended.code(), Some(0));
}
