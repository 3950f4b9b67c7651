//! Runs the example as its user does.

use std::process::Command;

/// The first run completes the job. The second run finds the same job and sends nothing.
#[test]
fn letter_is_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let output = Command::new(env!("CARGO_BIN_EXE_latchwork-example")).arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(), "COMPLETED, letters: 1\n");
    assert_eq!(run(), "has already ended, letters: 1\n");
}
