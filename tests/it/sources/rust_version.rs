//! The version of Rust that the project is built with.

use crate::support::checkout::root;

/// `rust-toolchain.toml` names one release of the Rust version that the manifest requires. Every checkout is therefore
/// built with the same compiler and the same lints.
#[test]
fn toolchain_file_selects_a_release_of_the_required_version() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap().parse::<toml::Table>().unwrap();
    let required = read("Cargo.toml")["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    let toolchain = read("rust-toolchain.toml");
    let selected = toolchain["toolchain"]["channel"].as_str().unwrap();
    let release = selected.strip_prefix(&format!("{required}.")).expect("the selected release is of this version");
    assert!(release.parse::<u32>().is_ok(), "{selected} is not an exact release");
}
