//! The guest SDK's checked-in bindings equal the generator's output for `wit/`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wit_bindgen_core::wit_parser::Resolve;
use wit_bindgen_core::{Files, WorldGenerator};
use wit_bindgen_rust::{Opts, WithOption};

/// Worlds of `guest-sdk/rust/sdk.wit`. The generator writes one file for each world.
const WORLDS: [&str; 7] = [
    "imports",
    "export-plugin",
    "export-run",
    "export-invoke",
    "export-reconcile",
    "export-verify",
    "export-compensate",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").to_path_buf()
}

/// Returns the file name and text of the bindings of one world.
fn generate(root: &Path, world: &str) -> Result<(String, String)> {
    let mut resolve = Resolve::default();
    resolve.push_dir(root.join("wit"))?;
    let (package, _) = resolve.push_path(root.join("guest-sdk/rust/sdk.wit"))?;
    let id = resolve.select_world(&[package], Some(world))?;
    // The types are defined once, in the bindings of the imports. The bindings of the other worlds refer to
    // these types.
    let types = ("latchwork:plugin/types@0.1.0".to_owned(), WithOption::Path("crate::bindings::types".to_owned()));
    let with = if world == "imports" { vec![] } else { vec![types] };
    let opts = Opts { generate_all: true, format: true, pub_export_macro: true, with, ..Opts::default() };
    let mut files = Files::default();
    opts.build().generate(&mut resolve, id, &mut files)?;
    let (name, bytes) = files.iter().next().context("the generator wrote no file")?;
    Ok((name.to_owned(), String::from_utf8(bytes.to_vec())?))
}

/// Returns the file names and texts of the bindings for C plugins.
fn generate_c(root: &Path) -> Result<Vec<(String, String)>> {
    let mut resolve = Resolve::default();
    resolve.push_dir(root.join("wit"))?;
    for real in ["clocks.wit", "random.wit"] {
        resolve.push_path(root.join("guest-sdk/wit").join(real))?;
    }
    let (package, _) = resolve.push_path(root.join("guest-sdk/c/sdk.wit"))?;
    let id = resolve.select_world(&[package], Some("latch"))?;
    let mut files = Files::default();
    let opts = wit_bindgen_c::Opts { no_object_file: true, ..Default::default() };
    opts.build().generate(&mut resolve, id, &mut files)?;
    files.iter().map(|(name, bytes)| Ok((name.to_owned(), String::from_utf8(bytes.to_vec())?))).collect()
}

/// The checked-in bindings for C plugins equal the generated bindings. With `LATCH_BLESS=1` the test writes the
/// bindings instead of comparing them.
#[test]
fn c_plugin_bindings_are_up_to_date() -> Result<()> {
    let root = root();
    for (name, text) in generate_c(&root)? {
        let path = root.join("guest-sdk/c/bindings").join(name);
        if std::env::var_os("LATCH_BLESS").is_some() {
            std::fs::write(&path, text)?;
        } else {
            assert!(
                std::fs::read_to_string(&path).unwrap_or_default() == text,
                "{} is out of date; regenerate it with: LATCH_BLESS=1 cargo test -p latchwork-tests bindings",
                path.display()
            );
        }
    }
    Ok(())
}

/// The checked-in Rust bindings of the guest SDK equal the generated bindings. With `LATCH_BLESS=1` the test writes the
/// bindings instead of comparing them.
#[test]
fn guest_bindings_are_up_to_date() -> Result<()> {
    let root = root();
    for world in WORLDS {
        let (name, text) = generate(&root, world).with_context(|| format!("world {world}"))?;
        let path = root.join("guest-sdk/rust/src/bindings").join(name);
        if std::env::var_os("LATCH_BLESS").is_some() {
            std::fs::write(&path, text)?;
            continue;
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "{} is out of date; regenerate it with: LATCH_BLESS=1 cargo test -p latchwork-tests bindings",
            path.display()
        );
    }
    Ok(())
}

/// The checked-in WebAssembly modules that adapt Go's runtime to the host equal the modules assembled from
/// their text. With `LATCH_BLESS=1` the test writes the modules instead of comparing them.
#[test]
fn go_plugin_adapter_modules_are_up_to_date() -> Result<()> {
    let dir = root().join("host/tooling/src/build/go");
    let text = std::fs::read_to_string(dir.join("preview1.wat"))?;
    for (kind, other) in [("step", ";; tool"), ("tool", ";; step")] {
        let lines = text.lines().map(|line| if line.ends_with(other) { "" } else { line });
        let module = wat::parse_str(lines.collect::<Vec<_>>().join("\n"))?;
        let path = dir.join(format!("preview1-{kind}.wasm"));
        if std::env::var_os("LATCH_BLESS").is_some() {
            std::fs::write(&path, module)?;
        } else {
            assert!(
                std::fs::read(&path).unwrap_or_default() == module,
                "{} is out of date; regenerate it with: LATCH_BLESS=1 cargo test -p latchwork-tests bindings",
                path.display()
            );
        }
    }
    Ok(())
}
