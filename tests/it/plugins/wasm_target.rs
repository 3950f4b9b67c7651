//! The Wasm target of Rust plugins, on a machine where neither rustc nor rustup has it.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::program::{CommandOutput, command_output, latch_command};

/// Runs `latch plugin toolchain`. Skips the ways to find a toolchain that depend on this machine.
fn toolchain(folder: &Path, installer: Option<&str>) -> CommandOutput {
    let mut latch = latch_command(folder, &["plugin", "toolchain", "--json"]);
    latch.env("LATCH_WASM_SKIP", "1 3").env("LATCH_WASM_DIR", folder.join("toolchain"));
    match installer {
        Some(installer) => latch.env("LATCH_WASM_INSTALLER", installer),
        None => latch.env_remove("LATCH_WASM_INSTALLER"),
    };
    command_output(latch.output().unwrap())
}

/// Without the variable `LATCH_WASM_INSTALLER`, `latch` installs no Wasm target and prints the commands that install
/// one.
#[test]
fn missing_wasm_target_is_an_error_with_the_command_to_type() {
    let folder = tempfile::tempdir().unwrap();
    // `latch` reads the installer from the environment only. A file of the project cannot name an installer.
    std::fs::write(folder.path().join("latch.toml"), "wasm_installer = \"./installer\"\n").unwrap();
    let ran = toolchain(folder.path(), None);
    let error = &ran.json()["error"];
    assert_eq!((ran.code, &error["code"]), (1, &json!("L0026")), "{}", ran.stdout);
    for message in ["rustup target add wasm32-unknown-unknown", ".cargo/wasm-rust-debian.sh"] {
        assert!(error["message"].as_str().unwrap().contains(message), "{message}: {error}");
    }
    assert!(!folder.path().join("toolchain").exists());
}

/// The variable `LATCH_WASM_INSTALLER` names a program that installs the toolchain. Its path may be relative to the
/// working folder.
#[test]
fn wasm_target_is_installed_by_the_program_in_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh
        set -e
        mkdir -p \"$1/current/bin\" \"$1/lib\"
        : >\"$1/lib/libstd-1.rlib\"
        echo \"$2\" >>\"$1/versions\"
        printf '#!/bin/sh\\necho \"%s/lib\"\\n' \"$1\" >\"$1/current/bin/rustc\"
        chmod +x \"$1/current/bin/rustc\"\n";
    // A shell writes the installer. If this process had the file open for writing, the installer could not be started.
    let mut write = Command::new("sh");
    write.args(["-c", "printf '%s' \"$1\" >installer && chmod +x installer", "sh", script]);
    assert!(write.current_dir(folder.path()).status().unwrap().success());

    let rustc = folder.path().join("toolchain/current/bin/rustc");
    for _ in 0..2 {
        let ran = toolchain(folder.path(), Some("./installer"));
        assert_eq!((ran.code, ran.json()), (0, json!({ "rustc": rustc })), "{}", ran.stderr);
    }
    // The program runs once, with the minimum version of Rust.
    assert_eq!(std::fs::read_to_string(folder.path().join("toolchain/versions")).unwrap(), "1.95\n");

    std::fs::remove_dir_all(folder.path().join("toolchain")).unwrap();
    let ran = toolchain(folder.path(), Some("./missing"));
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("LATCH_WASM_INSTALLER"), "{}", ran.stdout);
}
