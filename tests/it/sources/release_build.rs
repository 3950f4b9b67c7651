//! Features that only tests need: the released program does not have them, and the development workspace does. In the
//! workspace, the tests and the program `latch` share one build.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::checkout::{root, tracked_files};

/// Features that only tests need, as `cargo tree` prints them.
const OF_TESTS: [&str; 2] = ["latchwork-store feature \"crash-points\"", "tokio feature \"test-util\""];

/// Returns the packages and features that a build with these options has.
fn features_of_build(options: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--edges", "features,no-dev", "--prefix", "none"]).args(options);
    let listed = cargo.current_dir(root()).output().expect("cargo runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8(listed.stdout).expect("names are plain");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

/// Returns the name of the package with the program `latch`.
fn package_of_program() -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]);
    let listed = cargo.current_dir(root()).output().expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("cargo prints JSON");
    let is_program = |target: &serde_json::Value| target["name"] == "latch" && target["kind"][0] == "bin";
    let packages = metadata["packages"].as_array().expect("there are packages");
    let package = packages.iter().find(|package| package["targets"].as_array().unwrap().iter().any(is_program));
    package.expect("a package has the program")["name"].as_str().unwrap().to_owned()
}

/// Returns the options of every command in the pages that builds a release, with the page.
fn documented_release_builds() -> Vec<(String, Vec<String>)> {
    let pages = tracked_files().into_iter().filter(|path| path.ends_with(".md"));
    let builds = pages.flat_map(|page| {
        let text = std::fs::read_to_string(root().join(&page)).unwrap_or_default();
        let options = text.lines().filter_map(|line| Some(line.split_once("cargo build --release")?.1.to_owned()));
        let words = options.map(|options| options.split_whitespace().map(str::to_owned).collect());
        words.map(move |words| (page.clone(), words)).collect::<Vec<_>>()
    });
    builds.collect()
}

/// I195: the released program has no crash points and no clock of tests. The README shows packagers the command whose
/// build this test inspects, and no page shows another command.
#[test]
fn released_program_has_no_features_of_tests() {
    let package = package_of_program();
    let builds = documented_release_builds();
    assert!(builds.iter().any(|(page, _)| page == "README.md"), "README.md has the command");
    for (page, options) in builds {
        assert_eq!(options, ["--locked", "--package", &package], "{page}: the options of `cargo build --release`");
    }
    let released = features_of_build(&["--package", &package]);
    assert!(released.len() > 500, "{} packages and features", released.len());
    for feature in OF_TESTS {
        assert!(!released.contains(feature), "the released program has the {feature}");
    }
}

/// A build of the whole workspace has the features of tests even without development dependencies.
/// `cargo run --bin latch` builds without development dependencies, and `cargo test --workspace` builds with them. Both
/// commands still share one build of the program.
#[test]
fn workspace_has_the_features_of_tests_without_development_dependencies() {
    let workspace = features_of_build(&["--workspace"]);
    for feature in OF_TESTS {
        assert!(workspace.contains(feature), "the development workspace lacks the {feature}");
    }
}

/// wasmtime's macros and the program use the same parsers of components. With equal features of both, cargo builds the
/// parsers once. `[build-dependencies]` of the engine make the features equal.
#[test]
fn parsers_of_components_are_built_once() {
    let mut cargo = Command::new(env!("CARGO"));
    let options = ["--workspace", "--duplicates", "--edges", "normal,build", "--prefix", "none", "--depth", "0"];
    cargo.args(["tree", "--locked", "--offline"]).args(options);
    let listed = cargo.current_dir(root()).output().expect("cargo runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8(listed.stdout).expect("names are plain");
    assert!(text.contains("syn v"), "the list has the packages that are built twice: {text}");
    for parser in ["wasmparser", "wasm-encoder", "wit-parser", "wit-component", "wasmprinter"] {
        assert!(!text.lines().any(|line| line.starts_with(&format!("{parser} v"))), "{parser} is built twice:\n{text}");
    }
}
