//! The first minutes: a terminal session from `latch init` to a result.

use crate::sdk;
use crate::terminal::{Look, Terminal};

/// Commands that a screen names under `next:`.
fn next(screen: &str) -> Vec<String> {
    let after = screen.lines().skip_while(|line| line.trim() != "next:").skip(1);
    after.take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

/// I153: each command is one that a screen before it has printed, and the last one prints a result.
#[test]
fn each_screen_names_the_next_command_until_there_is_a_result() {
    let temp = tempfile::tempdir().unwrap();
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
        let shown = Terminal::start(sdk::latch(&folder, &words[1..]), 80, Look::NoColor).end();
        let screen = shown.text();
        screens.push(format!("$ {command}\n{screen}"));
        assert_eq!(shown.code, 0, "{}", screens.join("\n"));
        if screen.contains("Hello, Ada!") {
            break;
        }
        let named = next(&screen);
        if !named.is_empty() {
            todo = named;
        }
    }
    let screens = screens.join("\n");
    // A person who opens the project in the middle finds the same two commands on the first screen.
    assert!(screens.contains("$ cd hello") && screens.contains("$ latch run plan.json --build"), "{screens}");
}
