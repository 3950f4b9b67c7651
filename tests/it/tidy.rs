//! Project rules that the compiler does not check: maximum sizes of files, directions of dependencies, the
//! only files in which certain functions may be used, and a test for each invariant.

use std::collections::{BTreeMap, BTreeSet};

use crate::checkout::{root, tracked_files};

/// Maximum number of lines of a file. A longer file contains more than one concept.
const MAX_LINES: usize = 800;

/// A text file of the project, with its path relative to the root.
struct TextFile {
    path: String,
    text: String,
}

impl TextFile {
    /// Returns the numbered lines without comments, because a comment may name the forbidden word that it
    /// warns of.
    fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let comment = |line: &str| line.trim_start().starts_with("//");
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line)).filter(move |(_, line)| !comment(line))
    }
    /// Returns the lines of `code_lines` without the tests at the end of the file.
    fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let in_tests = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        self.code_lines().take_while(move |(_, line)| !in_tests && line.trim() != "#[cfg(test)]")
    }
}

/// Returns the tracked text files, sorted by path.
fn text_files() -> Vec<TextFile> {
    let text = |path: String| Some(TextFile { text: std::fs::read_to_string(root().join(&path)).ok()?, path });
    let files: Vec<TextFile> = tracked_files().into_iter().filter_map(text).collect();
    assert!(files.len() > 100, "the sources are there");
    files
}

fn rust_files(folder: &str) -> Vec<TextFile> {
    let files: Vec<TextFile> =
        text_files().into_iter().filter(|file| file.path.starts_with(folder) && file.path.ends_with(".rs")).collect();
    assert!(!files.is_empty(), "there is code in {folder}");
    files
}

fn assert_none(rule: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

/// Returns the lines of code in `files` that contain one of `words`, except in files whose path starts with a
/// prefix in `allowed`.
fn lines_with_words(files: &[TextFile], words: &[&str], allowed: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !allowed.iter().any(|prefix| file.path.starts_with(prefix))) {
        for (number, line) in file.product_lines() {
            if words.iter().any(|word| contains_word(line, word)) {
                found.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    found
}

/// Returns true if `word` is a separate word in `line`. For example, `eprint!(` does not contain the word
/// `print!(`.
fn contains_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(part);
        let after = line[at + word.len()..].chars().next().is_some_and(part);
        !(before && word.starts_with(part) || after && word.ends_with(part))
    })
}

#[test]
fn no_file_exceeds_the_maximum_length() {
    // Generated files may be longer.
    let written =
        |file: &TextFile| file.path.ends_with(".rs") && !file.path.starts_with("guest-sdk/rust/src/bindings/");
    let long = text_files().into_iter().filter(written);
    let long = long.map(|file| (file.text.lines().count(), file.path)).filter(|(lines, _)| *lines > MAX_LINES);
    assert_none(
        "a file is longer than 800 lines; split it by concept",
        long.map(|(lines, path)| format!("{path}: {lines} lines")).collect(),
    );
}

#[test]
fn file_names_are_portable() {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let odd = tracked_files().into_iter().filter(|path| !path.chars().all(plain));
    assert_none("letters, digits, `.`, `_` and `-` are enough on every system", odd.collect());
}

/// I7: the kernel depends on no crate for clocks, randomness, I/O or databases, and uses no such module of
/// the standard library.
#[test]
fn kernel_has_no_impure_dependencies() {
    let manifest = std::fs::read_to_string(root().join("host/core/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let dependencies: BTreeSet<&str> =
        manifest["dependencies"].as_table().unwrap().keys().map(String::as_str).collect();
    for impure in ["tokio", "sqlx", "wasmtime", "getrandom", "rustix", "tracing", "futures", "tempfile"] {
        assert!(!dependencies.contains(impure), "latchwork-core depends on {impure}");
    }
    let words = ["std::fs", "std::net", "std::env", "std::process", "std::thread", "SystemTime", "Instant"];
    assert_none(
        "the kernel reads no clock, file, network or environment",
        lines_with_words(&rust_files("host/core/src/"), &words, &[]),
    );
}

/// I8: only the store uses SQL, and only the command line names the store.
#[test]
fn only_the_store_uses_sql_and_only_the_cli_names_the_store() {
    let host = rust_files("host/src/");
    assert_none("only host/store speaks SQL", lines_with_words(&host, &["sqlx"], &[]));
    assert_none(
        "only the command line names latchwork_store",
        lines_with_words(&host, &["latchwork_store"], &["host/src/cli/"]),
    );
}

#[test]
fn dependencies_point_inwards() {
    let host = rust_files("host/src/");
    let cli = ["crate::cli", "super::cli", "latchwork::cli"];
    assert_none(
        "nothing depends on the command line",
        lines_with_words(&host, &cli, &["host/src/cli/", "host/src/main.rs"]),
    );
    let capability: Vec<TextFile> =
        host.into_iter().filter(|file| file.path.starts_with("host/src/capability/")).collect();
    assert!(!capability.is_empty());
    assert_none("a capability never sees the worker", lines_with_words(&capability, &["worker"], &[]));
    let store = rust_files("host/store/src/");
    assert_none("the store depends on the kernel alone", lines_with_words(&store, &["wasmtime", "latchwork::"], &[]));
}

/// I9: only the modules for output print. The three tests below also check I9.
#[test]
fn only_output_modules_print() {
    let words = ["print!(", "println!(", "eprint!(", "eprintln!(", "dbg!("];
    let product: Vec<TextFile> =
        ["host/src/", "host/core/src/", "host/store/src/"].iter().flat_map(|f| rust_files(f)).collect();
    assert_none("use cli/output.rs and cli/stderr.rs to print", lines_with_words(&product, &words, &[]));
    let places = ["host/src/cli/output.rs", "host/src/cli/stderr.rs", "host/src/cli/logging.rs"];
    assert_none(
        "cli/output.rs and cli/stderr.rs print, cli/logging.rs logs",
        lines_with_words(&product, &["stdout()", "stderr()"], &places),
    );
}

#[test]
fn clock_and_entropy_have_one_source_each() {
    let product: Vec<TextFile> =
        ["host/src/", "host/core/src/", "host/store/src/"].iter().flat_map(|f| rust_files(f)).collect();
    let clocks = ["SystemTime::now", "Instant::now", "clock_gettime", "elapsed()"];
    let places = ["host/src/os/clock.rs", "host/store/src/clock.rs"];
    assert_none("time is passed in", lines_with_words(&product, &clocks, &places));
    let entropy = ["getrandom", "thread_rng", "OsRng", "rand::random", "RandomState"];
    assert_none(
        "entropy is drawn in host/src/os/entropy.rs",
        lines_with_words(&product, &entropy, &["host/src/os/entropy.rs"]),
    );
}

#[test]
fn engine_profiles_are_built_in_one_file() {
    let engine = ["wasmtime::Config::new", "Config::new()"];
    assert_none(
        "one file builds engine profiles",
        lines_with_words(&rust_files("host/src/"), &engine, &["host/src/engine/profile.rs"]),
    );
}

#[test]
fn tools_are_called_in_one_place() {
    let places: BTreeSet<String> = rust_files("host/src/")
        .iter()
        .filter(|file| file.path.starts_with("host/src/worker/") || file.path.starts_with("host/src/cli/"))
        .filter(|file| file.product_lines().any(|(_, line)| line.contains(".invoke(")))
        .map(|file| file.path.clone())
        .collect();
    assert_eq!(places.len(), 1, "one place executes tools: {places:?}");
}

#[test]
fn every_invariant_is_cited_by_a_test() {
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is an ARCHITECTURE.md");
    let numbers: Vec<u32> =
        architecture.lines().filter_map(|line| line.strip_prefix("**I")?.split_once("**")?.0.parse().ok()).collect();
    assert!(!numbers.is_empty(), "ARCHITECTURE.md states invariants, each on a line that begins with **I1**");
    // Gaps are allowed, because the number of a removed invariant is never used again.
    assert!(numbers.is_sorted_by(|a, b| a < b), "in order, each once: {numbers:?}");
    let stated: BTreeSet<u32> = numbers.into_iter().collect();

    let mut cited: BTreeMap<u32, String> = BTreeMap::new();
    for file in text_files().into_iter().filter(|file| file.path.ends_with(".rs")) {
        let whole =
            file.path.starts_with("tests/it/") || file.path.ends_with("tests.rs") || file.path.contains("/tests/");
        let tests = match whole {
            true => file.text.as_str(),
            false => file.text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests),
        };
        for number in cited_invariants(tests) {
            cited.entry(number).or_insert_with(|| file.path.clone());
        }
    }
    let untested: Vec<_> = stated.iter().filter(|n| !cited.contains_key(n)).map(|n| format!("I{n}")).collect();
    assert_none("these invariants have no test", untested);
    let unknown = cited.iter().filter(|(n, _)| !stated.contains(n)).map(|(n, path)| format!("I{n} in {path}"));
    assert_none("these cited invariants are not in ARCHITECTURE.md", unknown.collect());
}

/// Returns the invariants cited in comments. Each is a word of its own, such as I9.
fn cited_invariants(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.contains("//")) {
        let comment = &line[line.find("//").unwrap_or(0)..];
        for word in comment.split(|c: char| !c.is_ascii_alphanumeric()) {
            if let Some(number) = word.strip_prefix('I').and_then(|digits| digits.parse().ok()) {
                found.push(number);
            }
        }
    }
    found
}

#[test]
fn sources_contain_no_private_paths_or_leftover_markers() {
    // Each word is written in two pieces, so that this file does not match itself.
    let words = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/tm", "p/bash"),
        concat!("shared/", "spec"),
        concat!("before", "-stop"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("<<<<", "<<<"),
        concat!(">>>>", ">>>"),
    ];
    let mut found = Vec::new();
    for file in text_files() {
        for (number, line) in file.text.lines().enumerate() {
            // A word between quotation marks is data and is permitted.
            let said = |word: &&&str| contains_word(line, word) && !line.contains(&format!("\"{word}\""));
            if let Some(word) = words.iter().find(said) {
                found.push(format!("{}:{}: {word}", file.path, number + 1));
            }
        }
    }
    assert_none("remove private paths and leftover markers", found);
}

#[test]
fn lock_files_name_only_the_public_registry() {
    let mut found = Vec::new();
    let mut locks = 0;
    for file in
        text_files().iter().filter(|file| file.path.ends_with("Cargo.lock") || file.path.ends_with("package-lock.json"))
    {
        locks += 1;
        for line in file.text.lines().filter(|line| line.contains("://")) {
            if line != "source = \"registry+https://github.com/rust-lang/crates.io-index\"" {
                found.push(format!("{}: {line}", file.path));
            }
        }
    }
    assert!(locks > 0, "there are lock files");
    assert_none("a lock file must not name a mirror", found);
}

#[test]
fn readme_has_both_commands_and_all_links_resolve() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for command in
        ["cargo run --bin latch -- run --build example-plugins/funding-outreach/plan.json", "cargo test --workspace"]
    {
        assert!(readme.lines().any(|line| line.trim().starts_with(command)), "README.md: {command}");
    }
    let mut broken = Vec::new();
    for file in text_files().iter().filter(|file| file.path.ends_with(".md")) {
        let folder = root().join(&file.path);
        let folder = folder.parent().unwrap();
        for (_, rest) in file.text.match_indices("](").map(|(at, _)| file.text.split_at(at + 2)) {
            let target = rest.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                broken.push(format!("{}: {target}", file.path));
            }
        }
    }
    assert_none("these links are broken", broken);
}

/// Each property has tests, and each test named in `docs/properties.md` exists.
#[test]
fn every_property_names_tests_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/properties.md")).unwrap();
    let (mut numbers, mut named) = (Vec::new(), 0);
    let sources = rust_files("");
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains("::")) {
        numbers.extend(row.split('|').nth(1).and_then(|cell| cell.trim().parse::<u32>().ok()));
        for test in quoted(row).filter(|word| word.contains("::")) {
            assert!(test_exists(&sources, test), "docs/properties.md names {test}, which does not exist");
            named += 1;
        }
    }
    assert_eq!(numbers, (1..=39).collect::<Vec<_>>());
    assert!(named >= 100, "{named}");
}

/// Each fence has tests, and each test named in `docs/fences.md` exists.
#[test]
fn every_fence_names_tests_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/fences.md")).unwrap();
    let (sources, mut named) = (rust_files(""), 0);
    let headings = |line: &&str| line.starts_with("|--") || line.starts_with("| fence |");
    for row in page.lines().filter(|line| line.starts_with('|') && !headings(line)) {
        // A cell with statements may contain bars, so the cell with the tests is found as the last one.
        let tests = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default();
        let before = named;
        for test in quoted(tests).filter(|word| *word != "sim") {
            assert!(test_exists(&sources, test), "docs/fences.md names {test}, which does not exist");
            named += 1;
        }
        assert!(named > before, "docs/fences.md: a fence without a test: {row}");
    }
    assert!(named >= 90, "{named}");
}

/// Returns the text between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns true if a function named `test` exists. If `test` is a path such as `a::b::name`, the function
/// must be in module `b`. Without a path, any file may contain the function.
fn test_exists(sources: &[TextFile], test: &str) -> bool {
    let (module, name) = test.rsplit_once("::").unwrap_or(("", test));
    let module = module.trim_end_matches("::tests");
    // The conformance suite is one module for all stores.
    let module = if module.starts_with("conformance::") { "conformance" } else { module };
    let file = module.rsplit("::").next().unwrap_or_default();
    let of_module = |source: &&TextFile| {
        file.is_empty() || source.path.contains(&format!("/{file}.rs")) || source.path.contains(&format!("/{file}/"))
    };
    sources.iter().filter(of_module).any(|source| source.text.contains(&format!("fn {name}(")))
}

#[test]
fn configuration_page_lists_every_key() {
    let manual = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    for key in [
        "database",
        "commit",
        "effect_store",
        "durability",
        "on_indeterminate",
        "lease",
        "heartbeat",
        "clock_margin",
        "max_attempts_without_progress",
        "keep_undoable",
        "state_dir",
        "modes",
        "standing_approvals",
        "expires",
        "quorum",
        "self_approve",
        "reason",
        "retry",
        "budget",
        "per_job_usd",
        "per_month_usd",
        "model_prices",
        "effects",
        "tags",
        "name",
        "source",
        "digest",
        "wasi",
        "http",
        "tcp",
        "dirs",
        "secrets",
        "secrets_clear",
        "kv",
        "memory",
        "fuel",
        "timeout",
        "output",
        "host_calls",
        "config",
        "confirmation",
        "verifier",
        "operators",
        "webhook",
        "headers",
        "allow_http",
        "run",
    ] {
        assert!(manual.contains(&format!("`{key}`")), "docs/configuration.md: {key}");
    }
}
