//! Configurations that the user has not named, at the command line and at a terminal.

use std::path::Path;

use crate::support::program::{command_output, latch_command, run_latch};
use crate::support::terminal::{Terminal, TerminalKind};

/// Creates a project with a policy and a plan in a folder below it.
fn project_with_nested_plan() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(temp.path().join("plans")).unwrap();
    let grants = "grants = { dirs = [{ host = \"notes\", guest = \"/notes\" }] }";
    let config = format!("[[plugin]]\nname = \"notes\"\nsource = \"notes.wasm\"\n{grants}\n");
    std::fs::write(temp.path().join("latch.toml"), config).unwrap();
    temp
}

fn is_refused(folder: &Path, variables: &[(&str, &str)]) -> bool {
    let mut listed = latch_command(folder, &["job", "list", "--json"]);
    listed.envs(variables.iter().copied());
    let ran = command_output(listed.output().unwrap());
    let refused = ran.stdout.contains("L0028");
    assert_eq!(ran.code, if refused { 2 } else { 0 }, "{}", ran.stdout);
    refused
}

/// I204.
#[test]
fn configuration_above_is_refused_until_it_is_named() {
    let project = project_with_nested_plan();
    let below = project.path().join("plans");
    let file = project.path().join("latch.toml").display().to_string();
    assert!(is_refused(&below, &[]));
    assert!(!is_refused(&below, &[("LATCH_TRUST_CONFIG", "1")]));
    assert!(!is_refused(&below, &[("LATCH_CONFIG", &file)]));
    assert!(!is_refused(project.path(), &[]));
    let named = run_latch(&below, &["job", "list", "--json", "--config", &file]);
    assert_eq!(named.code, 0, "{}", named.stdout);
}

/// I204: at a terminal, the question shows what the file grants, and the answer decides.
#[test]
fn question_at_a_terminal_shows_the_grants() {
    let project = project_with_nested_plan();
    for (answer, code, expected) in [("n", 2, "error[L0028]"), ("", 2, "error[L0028]"), ("y", 0, "no jobs")] {
        let command = latch_command(&project.path().join("plans"), &["job", "list"]);
        let mut terminal = Terminal::start(command, 200, TerminalKind::NoColor);
        terminal.wait_until_ends_with("use this configuration? [y]es, anything else: no");
        terminal.type_line(answer);
        let ended = terminal.wait_for_end();
        let text = ended.text();
        assert_eq!(ended.code, code, "{text}");
        assert!(text.contains("plugin notes from ") && text.contains("grants = { dirs = [{ host = "), "{text}");
        assert!(text.contains(expected), "{answer:?}: {text}");
    }
}
