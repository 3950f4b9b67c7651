//! First session in a terminal: from `latch init` to a result.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::plugins::sdk_tools;
use crate::support::terminal::{Terminal, TerminalKind};

/// Returns the commands that a screen lists under `next:`.
fn next_commands(screen: &str) -> Vec<String> {
    let after = screen.lines().skip_while(|line| line.trim() != "next:").skip(1);
    after.take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

/// Returns a search path without a working Node.js. The default language is then Rust, which is installed on every
/// machine that builds this test.
fn path_without_node(folder: &Path) -> OsString {
    for name in ["node", "npm"] {
        let program = folder.join(name);
        std::fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path))).unwrap()
}

/// I153: a user gets a result by starting with `latch init` and then typing each command that a screen lists under
/// `next:`.
#[test]
fn each_screen_prints_the_next_command_until_a_result() {
    let (temp, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = path_without_node(programs.path());
    let mut folder = temp.path().to_owned();
    let mut todo = vec!["latch init hello".to_owned()];
    let mut screens = Vec::new();
    loop {
        assert!(screens.len() < 9 && !todo.is_empty(), "no result:\n{}", screens.join("\n"));
        let command = todo.remove(0);
        if let Some(into) = command.strip_prefix("cd ") {
            folder.push(into);
            screens.push(format!("$ {command}"));
            continue;
        }
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "latch", "{command}");
        let mut latch = sdk_tools::latch_command(&folder, &words[1..]);
        latch.env("PATH", &path);
        let terminal_output = Terminal::start(latch, 80, TerminalKind::NoColor).wait_for_end();
        let screen = terminal_output.text();
        screens.push(format!("$ {command}\n{screen}"));
        assert_eq!(terminal_output.code, 0, "{}", screens.join("\n"));
        if screen.contains("Hello, Ada!") {
            break;
        }
        let named = next_commands(&screen);
        if !named.is_empty() {
            todo = named;
        }
    }
    let screens = screens.join("\n");
    assert!(screens.contains("Rust is the default on this machine"), "{screens}");
    // In `screens`, `$` precedes each command that the test executed. The test executed the two commands below, so a
    // screen must have listed them.
    assert!(screens.contains("$ cd hello") && screens.contains("$ latch run plan.json --build"), "{screens}");
}
