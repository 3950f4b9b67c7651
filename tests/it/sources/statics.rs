//! Statics: state of the whole process. Two hosts in one process must share none of it, so every static is listed here.

use super::text_files::{TextFile, assert_none, text_files};

/// Statics of the crates, each with its file, its name and the reason. Only a program or a guest may have state in a
/// static, because a program is alone in its process and a guest in its instance. A library may have constants that are
/// computed once.
const STATICS: [(&str, &str, &str); 7] = [
    ("host/cli/src/interrupt.rs", "PRESSED", "the process has one handler of SIGINT"),
    ("host/cli/src/output/stderr.rs", "AREA", "the process has one terminal, and log lines and answers share it"),
    ("host/engine/src/capability/connect.rs", "TLS", "constant: root certificates and settings of TLS"),
    ("host/tooling/src/inspect/worlds.rs", "WORLDS", "constant: the parsed worlds of this version"),
    ("host/src/located_toml/keys_read.rs", "KEYS_READ", "only in tests: keys that the thread has read"),
    ("guest-sdk/rust/src/log.rs", "HOOK", "a guest has one panic hook"),
    ("guest-sdk/rust/src/testing/mod.rs", "HOST", "double of the host in the tests of a plugin, for each thread"),
];

/// Returns the name of the static that a line of code declares.
fn declared(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("static ")?;
    let before = before.trim();
    let is_visibility = before.is_empty() || before == "pub" || before.starts_with("pub(") && before.ends_with(')');
    let is_in_macro = before.ends_with(['(', '{']);
    let name = rest.strip_prefix("mut ").unwrap_or(rest).split(':').next().unwrap_or_default().trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    ((is_visibility || is_in_macro) && is_name && rest.contains(':')).then_some(name)
}

fn statics(files: &[TextFile]) -> Vec<(String, String)> {
    let of_file = |file: &TextFile| {
        let path = file.path.clone();
        file.product_lines()
            .filter_map(|(_, line)| declared(line))
            .map(|name| (path.clone(), name.to_owned()))
            .collect()
    };
    files.iter().flat_map(|file| -> Vec<_> { of_file(file) }).collect()
}

/// I9.
#[test]
fn statics_are_listed() {
    let is_source = |file: &TextFile| {
        let folders = ["host/", "guest-sdk/rust/src/"];
        file.path.ends_with(".rs")
            && folders.iter().any(|folder| file.path.starts_with(folder))
            && !file.path.starts_with("guest-sdk/rust/src/bindings/")
    };
    let files: Vec<TextFile> = text_files().into_iter().filter(is_source).collect();
    let found = statics(&files);
    let listed = |file: &str, name: &str| STATICS.iter().any(|(path, listed, _)| *path == file && *listed == name);
    let unlisted =
        found.iter().filter(|(file, name)| !listed(file, name)).map(|(file, name)| format!("{file}: {name}"));
    assert_none("pass the state as a value, or list the static with its reason", unlisted.collect());
    let exists = |file: &str, name: &str| found.iter().any(|(path, found)| path == file && found == name);
    let removed = STATICS.iter().filter(|(file, name, _)| !exists(file, name));
    assert_none("remove from the list", removed.map(|(file, name, _)| format!("{file}: {name}")).collect());
}

#[test]
fn declarations_of_statics_are_found() {
    for (line, name) in [
        ("static A: u8 = 1;", Some("A")),
        ("    pub(crate) static B_2: Mutex<u8> = Mutex::new(1);", Some("B_2")),
        ("static mut C: u8 = 1;", Some("C")),
        ("thread_local!(static D: Cell<u8> = const { Cell::new(1) });", Some("D")),
        ("fn f(text: &'static str, N: u8) {}", None),
        ("impl Trait for T where T: 'static {", None),
        ("let text = \"a static X: value\";", None),
    ] {
        assert_eq!(declared(line), name, "{line}");
    }
}
