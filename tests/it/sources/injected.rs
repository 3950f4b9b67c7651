//! Clocks, entropy and the process id are injected: the files that read a clock of the machine, draw entropy or read the
//! id themselves are listed here.
//!
//! A value that decides something recorded or shown comes from the `Machine` of a host or from the clock of a store. A
//! file of the list provides one of these two, or follows real time on purpose. Waits are no reads of a clock: the
//! timers of tokio perform them, and a simulation replaces these timers.

use super::text_files::{TextFile, assert_none};
use super::tidy::{contains_word, product_files};

/// Names that read a clock of the machine, or create a value that reads one.
const CLOCKS: [&str; 15] = [
    "SystemTime::now",
    "Instant::now",
    "clock_gettime",
    "UTIME_NOW",
    "elapsed()",
    "clock::now_us",
    "clock::boot_us",
    "clock::boot_id",
    "clock::*",
    "SystemClock",
    "StoreClock",
    "Machine::system",
    "Machine::default",
    "HostClock::default",
    "EngineOptions::default",
];

/// Files and folders that may read a clock of the machine, each with the reason.
const CLOCK_READERS: [(&str, &str); 13] = [
    ("host/engine/src/os/", "the clocks themselves, and the machine of a host"),
    ("host/store/src/os/clock.rs", "the clock of a store"),
    ("host/store/src/lib.rs", "exports the clock of a store"),
    ("host/store/src/database/open.rs", "default of `OpenOptions::clock`"),
    ("host/engine/src/guest/limits.rs", "run time of a guest: a guest that never ends is stopped after real time"),
    ("host/engine/src/engine/cache/size.rs", "times of files, which the file system sets from the real clock"),
    ("host/src/builder.rs", "default of `HostBuilder::machine`"),
    ("host/src/registry/components.rs", "modification times of files, which the file system sets from the real clock"),
    ("host/cli/src/lib.rs", "the function that starts a command creates its machine"),
    ("host/cli/src/session.rs", "boot of the machine in the owner lock, which other processes compare with theirs"),
    ("host/tooling/src/check/dynamic/child.rs", "the other process of a check, which has an engine of its own"),
    ("host/cli/src/bench/", "measures this machine"),
    ("host/cli/src/commands/bench/", "measures this machine"),
];

/// Names that draw entropy of the operating system, or create a value that draws it.
const ENTROPY: [&str; 9] = [
    "getrandom",
    "thread_rng",
    "OsRng",
    "SystemRandom",
    "rand::random",
    "fastrand",
    "RandomState",
    "SystemEntropy",
    "entropy::",
];

/// Files and folders that may draw entropy, each with the reason.
const ENTROPY_READERS: [(&str, &str); 1] = [("host/engine/src/os/", "the entropy itself, and the machine of a host")];

/// Names that read the id of the process.
const PROCESS: [&str; 1] = ["process::id"];

/// Files that may read the id of the process, each with the reason.
const PROCESS_READERS: [(&str, &str); 2] = [
    ("host/store/src/open/options.rs", "default of `OpenOptions::process_id`"),
    ("host/cli/src/session.rs", "name of the program as a worker"),
];

/// Returns true if the line imports `word`, such as `clock::boot_us`, in a group: `use os::clock::{boot_us};`.
fn imports_in_group(line: &str, word: &str) -> bool {
    let Some((module, name)) = word.split_once("::") else { return false };
    let group = line.split_once(&format!("{module}::{{")).map(|(_, group)| group);
    !name.is_empty() && group.is_some_and(|group| contains_word(group, name))
}

/// Returns the lines of code that contain one of `words`, except in the places of `allowed`. Also returns the places of
/// `allowed` that contain none of the words, because the list must not name unnecessary places.
fn violations(files: &[TextFile], words: &[&str], allowed: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut unused: Vec<&str> = allowed.iter().map(|(place, _)| *place).collect();
    for file in files {
        for (number, line) in file.product_lines() {
            let is_read = words.iter().any(|word| contains_word(line, word) || imports_in_group(line, word));
            if !is_read {
                continue;
            }
            match allowed.iter().find(|(place, _)| file.path.starts_with(place)) {
                Some((place, _)) => unused.retain(|unused| unused != place),
                None => found.push(format!("{}:{number}: {}", file.path, line.trim())),
            }
        }
    }
    found.extend(unused.into_iter().map(|place| format!("{place}: listed, but contains none of the names")));
    found
}

/// I9.
#[test]
fn clocks_are_injected() {
    assert_none("take the time from the machine of the host", violations(&product_files(), &CLOCKS, &CLOCK_READERS));
}

/// I9.
#[test]
fn entropy_is_injected() {
    let found = violations(&product_files(), &ENTROPY, &ENTROPY_READERS);
    assert_none("take random bytes from the machine of the host", found);
}

/// I9.
#[test]
fn process_id_is_injected() {
    let found = violations(&product_files(), &PROCESS, &PROCESS_READERS);
    assert_none("take the id from the options of the store", found);
}

/// The check finds a read in a file that is not listed, and a listed file without a read.
#[test]
fn reads_outside_of_the_list_are_found() {
    let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
    let files = [
        file("host/src/a.rs", "use os::clock;\nfn f() -> u64 { clock::boot_us() }\n// SystemClock\n"),
        file("host/src/d.rs", "use os::clock::{boot_id, boot_us};\nuse os::clock::{TimeSource};"),
        file("host/src/b.rs", "let clock = SystemClock;\n#[cfg(test)]\nlet clock = SystemClock;\n"),
    ];
    let found = violations(&files, &CLOCKS, &[("host/src/b.rs", "reason"), ("host/src/c.rs", "reason")]);
    let expected = [
        "host/src/a.rs:2: fn f() -> u64 { clock::boot_us() }",
        "host/src/d.rs:1: use os::clock::{boot_id, boot_us};",
        "host/src/c.rs: listed, but contains none of the names",
    ];
    assert_eq!(found, expected);
}
