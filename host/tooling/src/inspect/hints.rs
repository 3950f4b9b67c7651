//! Advice for a plugin's author, based on the toolchain that built the file and on the problems found.

use crate::inspect::component_info::ComponentInfo;
use crate::inspect::difference::{DifferenceKind, InterfaceDifference};
use crate::inspect::file_kind::FileKind;
use crate::inspect::toolchain::Language;

impl ComponentInfo {
    /// Returns advice for the plugin's author, based on the toolchain and on the given differences.
    pub fn hints(&self, differences: &[InterfaceDifference]) -> Vec<String> {
        hints_for(self, differences)
    }
}

/// Returns one hint per action, the most important first.
fn hints_for(anatomy: &ComponentInfo, differences: &[InterfaceDifference]) -> Vec<String> {
    let mut hints = Vec::new();
    match anatomy.file_kind() {
        FileKind::Component => {
            if !differences.is_empty() {
                component(anatomy, differences, &mut hints);
            }
        }
        FileKind::CoreModule => core_module(anatomy, &mut hints),
        FileKind::Truncated(_) | FileKind::Damaged(_) => {
            hints.push("build or copy it again, and compare its SHA-256 with the original's".to_owned());
        }
        FileKind::OtherVersion => hints.push("build it with tools for WASI 0.2 components".to_owned()),
        FileKind::Empty => hints.push("the build or the copy produced an empty file; run it again".to_owned()),
        FileKind::Text(_) | FileKind::Other(_) => {
            hints.push("pass the component's file: `latch plugin build` prints its path".to_owned());
        }
    }
    for used in anatomy.features() {
        hints.push(format!("{}: {}", used.feature.name, used.feature.instead));
    }
    hints
}

fn component(anatomy: &ComponentInfo, differences: &[InterfaceDifference], hints: &mut Vec<String>) {
    let has = |kind: DifferenceKind| differences.iter().any(|difference| difference.kind == kind);
    let imports = |prefix: &str| differences.iter().any(|it| it.is_import() && it.interface.starts_with(prefix));
    if has(DifferenceKind::MissingExport) && !anatomy.exports_interface("plugin") {
        hints.push(new_project(anatomy.toolchain().language));
    }
    if has(DifferenceKind::ExportVersion) || has(DifferenceKind::ImportVersion) {
        let sdk = "its SDK belongs to another version of this host: use the one that `latch plugin new` writes";
        hints.push(sdk.to_owned());
    }
    if has(DifferenceKind::ExportSignature) || has(DifferenceKind::ImportSignature) {
        let bindings = "its bindings were generated from other interfaces: regenerate them from the `wit` folder of \
                        this host, or use the SDK";
        hints.push(bindings.to_owned());
    }
    if imports("wasi:") {
        hints.push(without_wasi(anatomy.toolchain().language).to_owned());
    }
    if imports("env") || differences.iter().any(|it| it.is_import() && !it.interface.contains(':')) {
        hints.push("an import without a package is a symbol that was undefined at link time".to_owned());
    }
    if imports("[async]") || anatomy.features().iter().any(|it| it.feature.id == "component-model-async") {
        hints.push("componentize-qjs builds synchronous exports with --sync".to_owned());
    }
    for name in ["init", "exports"] {
        let exported = anatomy.exports.iter().any(|(export, _)| export == name);
        let own = !matches!(anatomy.toolchain().language, Language::Python | Language::JavascriptQuickjs);
        if exported && own {
            hints.push(format!("an export named {name} collides with what toolchains add: give it another name"));
        }
    }
}

fn new_project(language: Language) -> String {
    let lang = match language {
        Language::Rust => "rust",
        Language::Python => "python",
        Language::JavascriptQuickjs | Language::JavascriptStarlingmonkey => "js",
        Language::Go | Language::TinyGo => "go",
        Language::C => "c",
        Language::Unknown => "LANGUAGE",
    };
    format!(
        "it was not built for this host: `latch plugin new NAME --lang {lang} --kind step` creates a project whose \
         SDK provides the missing exports"
    )
}

/// Advice on how to build without WASI, or to enable WASI, in the given language.
fn without_wasi(language: Language) -> &'static str {
    match language {
        Language::Rust => {
            "Rust: build for wasm32-unknown-unknown, which has no WASI, with the linker wasm-component-ld \
             (`latch plugin build` does); or keep wasm32-wasip2 and set wasi = \"virtual\""
        }
        Language::Python => {
            "Python: `latch plugin build` builds with --stub-wasi and routes clocks and randomness to the host; \
             or keep WASI and set wasi = \"virtual\""
        }
        Language::JavascriptQuickjs => {
            "JavaScript: componentize-qjs --stub-wasi omits WASI; `Math.random` is then frozen at build time unless \
             the SDK's prelude comes first, as `latch plugin build` ensures"
        }
        Language::JavascriptStarlingmonkey => {
            "JavaScript: componentize-js -d stdio random clocks http fetch-event omits WASI; clocks and \
             randomness are then frozen at build time unless the SDK's prelude comes first, as `latch plugin build` \
             ensures"
        }
        Language::Go => {
            "Go: its runtime needs clocks, randomness and output; route them to the host with the SDK, or set \
             wasi = \"virtual\""
        }
        Language::TinyGo => "TinyGo: build with -target=wasip2 and set wasi = \"virtual\"",
        Language::C => {
            "C: mostly printf and the clocks of the C library pull WASI in; `latch plugin build` links the \
             SDK's replacements (wasi.c)"
        }
        Language::Unknown => "build for a target without WASI, or set wasi = \"virtual\" for a step",
    }
}

fn core_module(anatomy: &ComponentInfo, hints: &mut Vec<String>) {
    let Some(module) = &anatomy.module else { return };
    let preview1 = module.imports.iter().any(|import| import.starts_with("wasi_snapshot_preview1."));
    let javascript = module.imports.iter().any(|import| import.starts_with("__wbindgen") || import.starts_with("wbg."));
    let ours = module.exports.iter().any(|export| export.contains("latchwork:plugin/"));
    if javascript {
        hints.push("wasm-bindgen built it for a browser: use wit-bindgen or the SDK".to_owned());
    }
    if preview1 {
        hints.push(preview1_hint(anatomy.toolchain().language).to_owned());
    }
    if module.has_component_type || ours {
        let adapter = if preview1 { " --adapt wasi_snapshot_preview1=ADAPTER.wasm" } else { "" };
        hints.push(format!(
            "it contains its bindings, and only the last build step is missing: \
             `wasm-tools component new FILE{adapter} -o PLUGIN.wasm`"
        ));
    } else {
        hints.push(new_project(anatomy.toolchain().language));
    }
    if anatomy.toolchain().language == Language::Rust {
        hints.push(
            "Rust: `[target.wasm32-unknown-unknown] linker = \"wasm-component-ld\"` in .cargo/config.toml makes \
                    cargo produce a component; `latch plugin build` sets it"
                .to_owned(),
        );
    }
}

/// Advice for a core module that imports WASI preview 1, which predates components.
fn preview1_hint(language: Language) -> &'static str {
    match language {
        Language::Rust => {
            "it imports wasi_snapshot_preview1: build for wasm32-unknown-unknown or wasm32-wasip2 instead of \
             wasm32-wasip1"
        }
        Language::Go => {
            "it imports wasi_snapshot_preview1, as GOOS=wasip1 builds do: the SDK's replacement forwards these \
             calls to the host; `latch plugin build` links it"
        }
        Language::TinyGo => "it imports wasi_snapshot_preview1: build with -target=wasip2",
        Language::C => {
            "it imports wasi_snapshot_preview1, which printf and exit pull in: link the SDK's wasi.c, which \
             `latch plugin build` does, or -lc-printscan-no-floating-point and definitions of your own"
        }
        _ => "it imports wasi_snapshot_preview1: an adapter converts these to WASI 0.2 when the component is created",
    }
}
