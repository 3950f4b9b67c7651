//! The example plugins are built from source and import only what they need.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, Result, bail};
use wit_component::DecodedWasm;

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{Determinism, EffectKind, PluginKind};
use latchwork_core::plan;
use latchwork_core::plan::{Catalog, OperatorInfo};
use latchwork_tooling::build;
use latchwork_tooling::build::{BuildOptions, BuiltPlugin};

use crate::support::checkout;

/// Folder and name of each plugin, its imports besides `types` and `log`, and its exports besides `plugin`.
const PLUGINS: [(&str, &str, &[&str], &[&str]); 6] = [
    ("files-rust", "files", &["config", "wasi:filesystem/preopens", "wasi:filesystem/types"], &["invoke"]),
    ("funding-rust", "funding", &["clock", "events", "tools"], &["run"]),
    (
        "llm-openai-rust",
        "llm",
        &[
            "config",
            "invocation",
            "secrets",
            // The plugin imports this interface only for the type of a timeout. It reads no clock.
            "wasi:clocks/monotonic-clock",
            "wasi:http/outgoing-handler",
            "wasi:http/types",
            "wasi:io/error",
            "wasi:io/poll",
            "wasi:io/streams",
        ],
        &["invoke"],
    ),
    (
        "mail-maildir-rust",
        "mail",
        &["config", "invocation", "wasi:clocks/wall-clock", "wasi:filesystem/preopens", "wasi:filesystem/types"],
        &["compensate", "invoke", "reconcile", "verify"],
    ),
    (
        "requests-rust",
        "requests",
        &["config", "invocation", "wasi:clocks/wall-clock", "wasi:filesystem/preopens", "wasi:filesystem/types"],
        &["compensate", "invoke", "reconcile", "verify"],
    ),
    (
        "web-fetch-rust",
        "web",
        &[
            "invocation",
            // The plugin imports this interface only for the type of a timeout. It reads no clock.
            "wasi:clocks/monotonic-clock",
            "wasi:http/outgoing-handler",
            "wasi:http/types",
            "wasi:io/error",
            "wasi:io/poll",
            "wasi:io/streams",
        ],
        &["invoke"],
    ),
];

fn examples() -> PathBuf {
    checkout::copy().join("example-plugins")
}

/// Makes the tests of this module build one after another. Without this lock, the builds would wait inside cargo for
/// its target folder, and the measured time of a test would contain this wait.
fn lock_builds() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn build_example(dir: &Path) -> Result<BuiltPlugin> {
    let mut printed = Vec::new();
    build::build(dir, &BuildOptions::from_env().unwrap(), &mut |line| printed.push(line.to_owned()))
        .with_context(|| format!("{}:\n{}", dir.display(), printed.join("\n")))
}

/// Returns the names of a component's imports and exports, without `latchwork:plugin/` and versions.
fn imports_and_exports(wasm: &Path) -> Result<(Vec<String>, Vec<String>)> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(&std::fs::read(wasm)?)? else {
        bail!("{} is not a component", wasm.display());
    };
    let short = |name: String| {
        let name = name.split('@').next().unwrap_or_default();
        name.strip_prefix("latchwork:plugin/").unwrap_or(name).to_owned()
    };
    let names = |keys: Vec<String>| {
        let mut names: Vec<_> = keys.into_iter().map(short).collect();
        names.sort();
        names
    };
    let world = &resolve.worlds[world];
    let imports = world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
    let exports = world.exports.keys().map(|key| resolve.name_world_key(key)).collect();
    Ok((names(imports), names(exports)))
}

#[test]
fn example_imports_only_what_it_needs() -> Result<()> {
    let _guard = lock_builds();
    for (dir, name, imports, exports) in PLUGINS {
        let built = build_example(&examples().join(dir))?;
        assert_eq!(built.name, name);
        assert_eq!(built.kind, if name == "funding" { PluginKind::Step } else { PluginKind::Tool });
        assert_eq!(built.digest, Hash::of(&[&std::fs::read(&built.wasm)?]));
        let with = |names: &[&str], always: &[&str]| {
            let mut names: Vec<String> = names.iter().chain(always).map(|name| (*name).to_owned()).collect();
            names.sort();
            names
        };
        let (imported, exported) = imports_and_exports(&built.wasm)?;
        assert_eq!(imported, with(imports, &["log", "types"]), "{name}");
        assert_eq!(exported, with(exports, &["plugin"]), "{name}");
        assert!(!build_example(&examples().join(dir))?.changed, "{name} was built again from the same sources");
    }
    Ok(())
}

#[test]
fn same_sources_build_the_same_component() -> Result<()> {
    let _guard = lock_builds();
    let dir = examples().join("files-rust");
    let first = build_example(&dir)?;
    let clean = std::process::Command::new("cargo")
        .args([
            "clean",
            "--quiet",
            "--release",
            "--target",
            "wasm32-unknown-unknown",
            "-p",
            "files",
            "-p",
            "latchwork-guest",
        ])
        .current_dir(&dir)
        .env_remove("CARGO_TARGET_DIR")
        .status()?;
    assert!(clean.success());
    let second = build_example(&dir)?;
    assert_eq!((second.changed, second.digest), (false, first.digest));
    let text = String::from_utf8_lossy(&std::fs::read(&second.wasm)?).into_owned();
    let home = examples().parent().expect("the workspace").display().to_string();
    assert!(!text.contains(&home), "the component holds a path of this machine");
    // If the toolchain has its component `rust-src`, rustc refers to the sources of the standard library by
    // their path on this machine. The plugin must not contain such a path.
    assert!(!text.contains("/lib/rustlib/src"), "the component holds the toolchain's path");
    Ok(())
}

/// The operators of the examples, as their plugins describe them.
struct ExampleCatalog;

impl Catalog for ExampleCatalog {
    fn operator(&self, name: &str) -> Option<OperatorInfo> {
        use Determinism::{External, Pure, Stable};
        use EffectKind::{ExternalSend, InternalWrite, ProduceOutcome, ReadOnly};
        let (effects, determinism, kind) = match name {
            "Professor.Summarize" | "Alignment.Build" => (vec![ReadOnly, ProduceOutcome], Pure, PluginKind::Step),
            "Email.GenerateDraft" => (vec![ProduceOutcome], Stable, PluginKind::Step),
            "Email.Review" => (vec![ProduceOutcome], Pure, PluginKind::Step),
            "File.Read" => (vec![ReadOnly], External, PluginKind::Tool),
            "Request.Apply" => (vec![InternalWrite], External, PluginKind::Tool),
            "Mail.Send" => (vec![ExternalSend], External, PluginKind::Tool),
            _ => return None,
        };
        Some(OperatorInfo { effects, determinism, kind, compensate: kind == PluginKind::Tool })
    }
    fn names(&self) -> Vec<String> {
        ["Professor.Summarize", "Alignment.Build", "Email.GenerateDraft", "Email.Review", "Request.Apply", "Mail.Send"]
            .map(str::to_owned)
            .to_vec()
    }
}

#[test]
fn shipped_plan_is_valid_and_pins_the_shipped_files() -> Result<()> {
    let flow = examples().join("funding-outreach");
    let plan = plan::check(&std::fs::read(flow.join("plan.json"))?, &ExampleCatalog)
        .map_err(|violations| anyhow::anyhow!("{violations:#?}"))?;
    assert_eq!(
        plan.steps.iter().map(|step| step.step_id.as_str()).collect::<Vec<_>>(),
        ["s1", "s2", "s3", "s4", "s5", "s6"]
    );
    for (step, pointer) in [("s1", "/page"), ("s2", "/cv")] {
        let step = plan.steps.iter().find(|found| found.step_id.as_str() == step).context("a step")?;
        let source = step.payload.pointer(pointer).context("a source")?;
        let path = source["path"].as_str().and_then(|path| path.strip_prefix('/')).context("a path")?;
        let content = std::fs::read(flow.join(path))?;
        assert_eq!(
            source["sha256"].as_str(),
            Some(Hash::of(&[&content]).to_hex().as_str()),
            "put the new hash of {path} into plan.json"
        );
    }
    Ok(())
}
