//! Project rules that the compiler does not check: maximum sizes of files, directions of dependencies, and files that
//! may use certain functions.

use std::collections::{BTreeMap, BTreeSet};

use super::text_files::{TextFile, assert_none, rust_files, text_files};
use crate::support::checkout::{root, tracked_files};

/// Maximum number of lines of a file. A longer file contains more than one concept.
const MAX_LINES: usize = 500;

/// Returns the Rust files of the host's crates: everything but the kernel and the store.
fn host_files() -> Vec<TextFile> {
    ["host/engine/src/", "host/src/", "host/tooling/src/", "host/cli/src/"].iter().flat_map(|f| rust_files(f)).collect()
}

/// Returns the Rust files of all crates under `host`.
pub(super) fn product_files() -> Vec<TextFile> {
    let inner = ["host/core/src/", "host/store/src/"];
    inner.iter().flat_map(|f| rust_files(f)).chain(host_files()).collect()
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
pub(super) fn contains_word(line: &str, word: &str) -> bool {
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
        "a file is longer than 500 lines; split it by concept",
        long.map(|(lines, path)| format!("{path}: {lines} lines")).collect(),
    );
}

/// The page about the structure is short enough to be read at one sitting.
#[test]
fn architecture_page_has_at_most_250_lines_of_120_columns() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let lines = page.lines().count();
    assert!(lines <= 250, "ARCHITECTURE.md has {lines} lines");
    // A row of a table is one line of any length.
    let is_long = |(_, line): &(usize, &str)| !line.starts_with('|') && line.chars().count() > 120;
    let long = page.lines().enumerate().filter(is_long).map(|(number, _)| format!("ARCHITECTURE.md:{}", number + 1));
    assert_none("wrap the lines at 120 columns", long.collect());
}

/// A file that no module declares is not compiled. Its tests would not run, and the register would still cite these
/// tests.
#[test]
fn every_source_file_is_a_module() {
    let files: BTreeMap<String, String> =
        rust_files("").into_iter().map(|file| (file.path, file.text)).filter(|(path, _)| is_in_a_crate(path)).collect();
    let orphan = |path: &str| {
        let (folder, name) = path.rsplit_once('/').expect("a source is in a folder");
        let (folder, stem) = match name.trim_end_matches(".rs") {
            "lib" | "main" => return false,
            "mod" => folder.rsplit_once('/').expect("a module is in a folder"),
            stem => (folder, stem),
        };
        let parents = ["/mod.rs", "/lib.rs", "/main.rs", ".rs"].map(|end| format!("{folder}{end}"));
        let texts: Vec<&String> = parents.iter().filter_map(|parent| files.get(parent)).collect();
        let declaration = format!("mod {stem};");
        let declared = texts.iter().any(|text| text.lines().any(|line| line.trim_start().ends_with(&declaration)));
        // A package's folder `tests` may belong to no module. Cargo then compiles each file in the folder as a separate
        // test binary.
        let is_root = texts.is_empty() && folder.ends_with("/tests");
        !declared && !is_root
    };
    assert!(files.len() > 1_000, "{}", files.len());
    assert_none("no module declares these files", files.keys().filter(|path| orphan(path)).cloned().collect());
}

/// Returns true for a source of the workspace. Guests and templates have workspaces of their own.
fn is_in_a_crate(path: &str) -> bool {
    let roots = ["host/", "tests/it/", "tests/model/", "tests/sim/", "guest-sdk/rust/src/"];
    roots.iter().any(|root| path.starts_with(root))
}

/// The functions that handle events by topic end in `unreachable!`, so the compiler does not find an event without a
/// case.
#[test]
fn every_event_has_a_case_in_the_fold_and_a_text() {
    let topics = std::fs::read_to_string(root().join("host/core/src/event/topic.rs")).unwrap();
    let names: BTreeSet<&str> =
        topics.split("Body::").skip(1).filter_map(|rest| rest.split([' ', '{']).next()).collect();
    assert!(names.len() > 50, "{names:?}");
    for folder in ["host/core/src/state/", "host/cli/src/display/event_text.rs"] {
        let files = rust_files(folder);
        let handles = |name: &str| {
            let case = format!("Body::{name} {{");
            files.iter().any(|file| file.product_lines().any(|(_, line)| line.contains(&case)))
        };
        let missing = names.iter().filter(|name| !handles(name)).map(|name| format!("{folder}: {name}"));
        assert_none("these events have no case", missing.collect());
    }
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

/// I8: only the store uses sqlx, and only the command line names the store.
#[test]
fn only_the_store_uses_sql_and_only_the_cli_names_the_store() {
    let host = host_files();
    assert_none("only host/store speaks SQL", lines_with_words(&host, &["sqlx"], &[]));
    assert_none(
        "only the command line names latchwork_store",
        lines_with_words(&host, &["latchwork_store"], &["host/cli/src/"]),
    );
}

/// The packages under `host`, each with the packages of this repository that it may depend on.
const MAY_DEPEND_ON: [(&str, &[&str]); 7] = [
    ("host/core", &[]),
    ("host/store", &["latchwork-core"]),
    ("host/engine", &["latchwork-core"]),
    ("host", &["latchwork-core", "latchwork-engine"]),
    ("host/tooling", &["latchwork", "latchwork-core", "latchwork-engine"]),
    ("host/example", &["latchwork", "latchwork-store"]),
    ("host/cli", &["latchwork", "latchwork-core", "latchwork-engine", "latchwork-store", "latchwork-tooling"]),
];

/// Each crate under `host` depends on exactly the crates that the table lists.
#[test]
fn dependencies_point_inwards() {
    for (folder, expected) in MAY_DEPEND_ON {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let dependencies = manifest["dependencies"].as_table().unwrap();
        let own: Vec<&str> =
            dependencies.keys().map(String::as_str).filter(|name| name.starts_with("latchwork")).collect();
        assert_eq!(own, expected, "packages of this repository that {folder} depends on");
    }
    let folders = tracked_files().into_iter().filter(|path| path.starts_with("host/") && path.ends_with("Cargo.toml"));
    assert_eq!(folders.count(), MAY_DEPEND_ON.len(), "the table lists every package under host");
    let capability = rust_files("host/engine/src/capability/");
    assert_none("a capability never sees the engine", lines_with_words(&capability, &["crate::engine"], &[]));
}

/// Parts of the engine's package that inspection and builds may import. None of them loads a component.
const ENGINE_PARTS: [&str; 3] = ["interfaces::", "capability::grants::", "os::temp_files"];

/// Returns the lines with which inspection or a build could load, compile or run a component in the engine.
fn uses_of_the_engine(files: &[TextFile]) -> Vec<String> {
    let crates = ["wasmtime", "latchwork::runtime", "latchwork::registry", "latchwork::replay", "latchwork::evidence"];
    let mut found = lines_with_words(files, &crates, &[]);
    for file in files {
        for (number, line) in file.product_lines() {
            let uses = line.split("latchwork_engine").skip(1).map(|rest| rest.trim_start_matches("::"));
            for path in uses.filter(|path| !ENGINE_PARTS.iter().any(|part| path.starts_with(part))) {
                found.push(format!("{}:{number}: latchwork_engine::{path}", file.path));
            }
        }
    }
    found
}

/// ARCHITECTURE.md names the same parts.
#[test]
fn inspection_and_builds_never_load_a_component() {
    let folders = ["host/tooling/src/inspect/", "host/tooling/src/build/"];
    let files: Vec<TextFile> = folders.into_iter().flat_map(rust_files).collect();
    assert_none("inspection and builds load and run no component", uses_of_the_engine(&files));
    let file = |text: &str| [TextFile { path: "a.rs".to_owned(), text: text.to_owned() }];
    assert_eq!(uses_of_the_engine(&file("use latchwork_engine::interfaces::wit::WIT;\n")), Vec::<String>::new());
    for text in ["use latchwork_engine::Engine;\n", "use latchwork_engine::{Plugin, os};\n", "use wasmtime::Store;\n"] {
        assert_eq!(uses_of_the_engine(&file(text)).len(), 1, "{text}");
    }
}

/// I9: only the output modules may print text.
#[test]
fn only_output_modules_print() {
    let words = ["print!(", "println!(", "eprint!(", "eprintln!(", "dbg!("];
    let product = product_files();
    assert_none("use host/cli/src/output/{printer,stderr}.rs to print", lines_with_words(&product, &words, &[]));
    let places = ["host/cli/src/output/printer.rs", "host/cli/src/output/stderr.rs", "host/cli/src/output/logging.rs"];
    assert_none(
        "output/printer.rs and output/stderr.rs print, output/logging.rs logs",
        lines_with_words(&product, &["stdout()", "stderr()"], &places),
    );
}

/// I9.
#[test]
fn engine_profiles_are_built_in_one_file() {
    let engine = ["wasmtime::Config::new", "Config::new()"];
    assert_none(
        "one file builds engine profiles",
        lines_with_words(&host_files(), &engine, &["host/engine/src/engine/profile.rs"]),
    );
}

/// I9.
#[test]
fn tools_are_called_in_one_place() {
    let places: BTreeSet<String> = host_files()
        .iter()
        .filter(|file| file.path.starts_with("host/src/runtime/") || file.path.starts_with("host/cli/src/"))
        .filter(|file| file.product_lines().any(|(_, line)| line.contains(".invoke(")))
        .map(|file| file.path.clone())
        .collect();
    assert_eq!(places.len(), 1, "one place executes tools: {places:?}");
}

#[test]
fn sources_contain_no_private_paths_or_leftover_markers() {
    // Each word is written in two pieces. Otherwise this file would match itself.
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
            let is_used = |word: &&&str| contains_word(line, word) && !line.contains(&format!("\"{word}\""));
            if let Some(word) = words.iter().find(is_used) {
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

/// A build writes into the folder `build` beside its recipe. The repository contains sources alone.
#[test]
fn no_output_of_a_build_is_tracked() {
    let files: std::collections::BTreeSet<String> = tracked_files().into_iter().collect();
    let is_output = |path: &&String| {
        path.match_indices("/build/").any(|(at, _)| files.contains(&format!("{}/latch-plugin.toml", &path[..at])))
    };
    assert_none("these files are the output of a build", files.iter().filter(is_output).cloned().collect());
}

/// The program starts no package manager of the system and contains no shell script. The installer for Debian is a file
/// of the repository, which `.cargo/config.toml` names.
#[test]
fn only_a_script_of_the_repository_installs_system_packages() {
    let words = ["apt", "apt-get", "apt-cache", "dpkg", "sudo"];
    // `install_advice.rs` prints commands of package managers as advice and does not start them.
    let is_product = |file: &TextFile| file.path.starts_with("host/") && !file.path.ends_with("/install_advice.rs");
    let host: Vec<TextFile> = text_files().into_iter().filter(is_product).collect();
    assert_none("the program runs no package manager", lines_with_words(&host, &words, &[]));
    let scripts = host.iter().filter(|file| file.path.ends_with(".sh") || file.text.starts_with("#!/"));
    assert_none("the program contains no shell script", scripts.map(|file| file.path.clone()).collect());

    let config = std::fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    let config: toml::Table = config.parse().unwrap();
    let installer = &config["env"]["LATCH_WASM_INSTALLER"];
    assert_eq!(installer["relative"].as_bool(), Some(true), "{installer}");
    let script = root().join(installer["value"].as_str().unwrap());
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&script).unwrap().permissions());
    assert_eq!(mode & 0o111, 0o111, "{} is executable", script.display());
    // On a machine without rustup, tests build plugins with the installer that this variable names.
    assert!(std::env::var_os("LATCH_WASM_INSTALLER").is_some(), "cargo sets the variable for tests");
}

/// Inspection and engine accept the same components, because one version of the parser reads them.
#[test]
fn wasm_tools_have_the_version_of_the_engine() {
    let lock: toml::Table = std::fs::read_to_string(root().join("Cargo.lock")).unwrap().parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let versions = |name: &str| -> BTreeSet<&str> {
        let named = packages.iter().filter(|package| package["name"].as_str() == Some(name));
        named.filter_map(|package| package["version"].as_str()).collect()
    };
    let engine = packages.iter().find(|package| package["name"].as_str() == Some("wasmtime")).unwrap();
    let uses_parser = |name: &toml::Value| name.as_str().is_some_and(|name| name.starts_with("wasmparser"));
    assert!(engine["dependencies"].as_array().unwrap().iter().any(uses_parser), "{engine}");
    for tool in ["wasmparser", "wasm-encoder", "wasm-metadata", "wit-parser", "wit-component"] {
        let found = versions(tool);
        // If `Cargo.toml` asks for another version than wasmtime does, the lock file has two versions of the package.
        assert_eq!(found.len(), 1, "{tool} has the versions {found:?}: ask for the version of wasmtime in Cargo.toml");
        assert_eq!(found, versions("wasmparser"), "{tool} and wasmparser have different versions");
    }
}

#[test]
fn readme_has_both_commands() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for command in
        ["cargo run --bin latch -- run --build example-plugins/funding-outreach/plan.json", "cargo test --workspace"]
    {
        assert!(readme.lines().any(|line| line.trim().starts_with(command)), "README.md: {command}");
    }
}

#[test]
fn configuration_page_lists_every_key() {
    let manual = std::fs::read_to_string(root().join("docs/reference/configuration.md")).unwrap();
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
        "shared",
        "bytes",
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
        assert!(manual.contains(&format!("`{key}`")), "docs/reference/configuration.md: {key}");
    }
}
