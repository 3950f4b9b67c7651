//! The static check of a component: determines its world and lists all forbidden imports and missing exports.

use wasmtime::component::Component;

use latchwork_core::model::manifest::{PluginKind, WasiMode};

use super::error::Problem;
use super::virtual_wasi;
use crate::capability::grant;
use crate::capability::grants::Grants;
use crate::capability::settings::LoadSettings;
use crate::engine::component_names::{PACKAGE, Shape, VERSION, interface_name};
use crate::engine::{inspect, untyped};

/// First bytes of every component: magic number, version and layer.
const COMPONENT_HEADER: [u8; 8] = *b"\0asm\x0d\0\x01\0";

const STEP_IMPORTS: [&str; 7] = ["types", "context", "clock", "rng", "tools", "events", "log"];
const TOOL_IMPORTS: [&str; 7] = ["types", "context", "invocation", "log", "kv", "secrets", "config"];

/// Hint that names the setting which lets a step import WASI.
const VIRTUAL_WASI_HINT: &str = "wasi = \"virtual\" in its [[plugin]], for a deterministic WASI";

/// Result of reading only the names of imports and exports, without compiling the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameCheck {
    /// A component of one of the two worlds.
    Recognized(Shape),
    /// No import or export names a Latchwork interface, so the component may be an untyped component. The types of its
    /// exports decide this during loading.
    Unrecognized,
}

/// Determines the world from the names of imports and exports, and checks the imports, before compilation.
pub(crate) fn check_names(bytes: &[u8], terms: LoadSettings<'_>) -> Result<NameCheck, Vec<Problem>> {
    // `inspect::explain` later adds which kind of file the bytes are.
    if !bytes.starts_with(&COMPONENT_HEADER) {
        return Err(vec![Problem::NotAComponent("it does not start with the header of a component".to_owned())]);
    }
    // A component that cannot be parsed here is refused with a reason during compilation.
    let Some((imports, exports)) = inspect::outer_names(bytes) else { return Ok(NameCheck::Unrecognized) };
    if !imports.iter().chain(&exports).any(|name| name.starts_with(PACKAGE)) {
        return Ok(NameCheck::Unrecognized);
    }
    let imports: Vec<&str> = imports.iter().map(String::as_str).collect();
    let exports: Vec<&str> = exports.iter().map(String::as_str).collect();
    determine_world(&imports, &exports, terms.grants, terms.wasi).map(NameCheck::Recognized)
}

/// Determines the world of a compiled component from its exports, and checks its imports against that world.
pub(crate) fn check_component(
    engine: &wasmtime::Engine,
    component: &Component,
    grants: &Grants,
    wasi: WasiMode,
) -> Result<Shape, Vec<Problem>> {
    if untyped::is_untyped(engine, component) {
        return check_untyped(engine, component, grants, wasi);
    }
    let ty = component.component_type();
    let imports: Vec<&str> = ty.imports(engine).map(|(name, _)| name).collect();
    let exports: Vec<&str> = ty.exports(engine).map(|(name, _)| name).collect();
    determine_world(&imports, &exports, grants, wasi)
}

fn determine_world(imports: &[&str], exports: &[&str], grants: &Grants, wasi: WasiMode) -> Result<Shape, Vec<Problem>> {
    let has = |interface: &str| exports.contains(&interface_name(interface).as_str());
    let mut problems = Vec::new();
    let kind = match (has("run"), has("invoke")) {
        (true, false) => Some(PluginKind::Step),
        (false, true) => Some(PluginKind::Tool),
        (true, true) => {
            problems.push(Problem::Export {
                export: interface_name("run"),
                wrong: format!(
                    "is exported together with {}; a component is either a step or a tool",
                    interface_name("invoke")
                ),
            });
            None
        }
        (false, false) => {
            for interface in ["run", "invoke"] {
                problems.push(Problem::Export {
                    export: interface_name(interface),
                    wrong: describe_missing_export(interface, exports),
                });
            }
            None
        }
    };
    if !has("plugin") {
        problems.push(Problem::Export {
            export: interface_name("plugin"),
            wrong: describe_missing_export("plugin", exports),
        });
    }
    for import in imports {
        // If the exports do not identify a world, the imports are checked against the stricter world, the step.
        // The list of problems is then complete.
        if let Some(instead) = import_refusal(kind.unwrap_or(PluginKind::Step), import, grants, wasi) {
            problems.push(Problem::Import { import: (*import).to_owned(), instead });
        }
    }
    match kind {
        Some(kind) if problems.is_empty() => {
            let optional = |interface| kind == PluginKind::Tool && has(interface);
            let (reconcile, verify, compensate) = (optional("reconcile"), optional("verify"), optional("compensate"));
            Ok(Shape { kind, reconcile, verify, compensate, is_untyped: false })
        }
        _ => Err(problems),
    }
}

/// Checks the imports of an untyped component, which may import the same interfaces as a tool. Imports that
/// contain only types need no implementation and always pass. In the returned [`Shape`], no optional function
/// is present.
fn check_untyped(
    engine: &wasmtime::Engine,
    component: &Component,
    grants: &Grants,
    wasi: WasiMode,
) -> Result<Shape, Vec<Problem>> {
    let kind = PluginKind::Tool;
    let ty = component.component_type();
    let imports = ty.imports(engine).filter(|(_, import)| !untyped::has_only_types(engine, &import.ty));
    let refused = imports.filter_map(|(import, _)| {
        Some(Problem::Import { import: import.to_owned(), instead: import_refusal(kind, import, grants, wasi)? })
    });
    let problems: Vec<_> = refused.collect();
    match problems.is_empty() {
        true => Ok(Shape { kind, reconcile: false, verify: false, compensate: false, is_untyped: true }),
        false => Err(problems),
    }
}

/// Checks a plugin's settings against its world.
pub(crate) fn check_settings(shape: Shape, terms: LoadSettings<'_>) -> Result<(), Vec<Problem>> {
    match shape.kind {
        PluginKind::Step if *terms.grants != Grants::default() => Err(vec![Problem::GrantsOnStep]),
        PluginKind::Tool if terms.wasi != WasiMode::None => Err(vec![Problem::VirtualWasiOnTool]),
        _ if !shape.is_untyped && terms.has_operator_overrides => Err(vec![Problem::RedundantOverrides]),
        _ => Ok(()),
    }
}

/// Guesses the world from byte patterns in the component. The guess may be wrong.
pub(crate) fn guess_kind(bytes: &[u8]) -> PluginKind {
    let names = |interface: &str| {
        let name = interface_name(interface);
        bytes.windows(name.len()).any(|window| window == name.as_bytes())
    };
    let ours = bytes.windows(PACKAGE.len()).any(|window| window == PACKAGE.as_bytes());
    if names("invoke") && !names("run") || !ours { PluginKind::Tool } else { PluginKind::Step }
}

/// Describes why an export is missing, for example because the component exports another version of the interface.
fn describe_missing_export(interface: &str, exports: &[&str]) -> String {
    let prefix = format!("{PACKAGE}{interface}@");
    match exports.iter().find(|name| name.starts_with(&prefix)) {
        Some(other) => format!("is missing; the component exports {other}, which this host does not serve"),
        None => match interface {
            "run" => "is missing (a step exports it)".to_owned(),
            "invoke" => "is missing (a tool exports it)".to_owned(),
            _ => "is missing".to_owned(),
        },
    }
}

/// Returns the reason why a plugin of this kind may not have the import, with the alternative to use. Returns
/// `None` if the import is allowed.
pub(crate) fn import_refusal(kind: PluginKind, import: &str, grants: &Grants, wasi: WasiMode) -> Option<String> {
    if let Some(name) = import.strip_prefix(PACKAGE) {
        let (allowed, other) = match kind {
            PluginKind::Step => (&STEP_IMPORTS, &TOOL_IMPORTS),
            PluginKind::Tool => (&TOOL_IMPORTS, &STEP_IMPORTS),
        };
        return match name.split_once('@') {
            Some((interface, "0.1.0")) if allowed.contains(&interface) => None,
            Some((interface, "0.1.0")) if other.contains(&interface) => Some(other_world_hint(kind, interface)),
            _ => Some(format!("this host only serves {PACKAGE}*{VERSION}; build against that version")),
        };
    }
    let interface = import.split('@').next().unwrap_or(import);
    match kind {
        PluginKind::Step => match (virtual_wasi::serves(import), wasi) {
            (true, WasiMode::Virtual) => None,
            (true, WasiMode::None) => Some(format!("{}; or set {VIRTUAL_WASI_HINT}", step_alternative(interface))),
            (false, _) => Some(step_alternative(interface).to_owned()),
        },
        PluginKind::Tool if !is_wasi_0_2(import) => {
            Some("a tool may only import latchwork:plugin and WASI 0.2".to_owned())
        }
        PluginKind::Tool => grant::refuse_import(interface, grants),
    }
}

fn is_wasi_0_2(import: &str) -> bool {
    import.starts_with("wasi:") && import.split_once('@').is_some_and(|(_, version)| version.starts_with("0.2."))
}

fn other_world_hint(kind: PluginKind, interface: &str) -> String {
    match (kind, interface) {
        (PluginKind::Step, "invocation") => {
            "it distinguishes attempts, which a step must not; use latchwork:plugin/context".to_owned()
        }
        (PluginKind::Step, "kv") => {
            "a step keeps no data; pass the data in its input, or call a tool through latchwork:plugin/tools".to_owned()
        }
        (PluginKind::Step, "config") => "a step gets its settings in its input".to_owned(),
        (PluginKind::Step, _) => "only a tool may import it; call one through latchwork:plugin/tools".to_owned(),
        (PluginKind::Tool, "clock") => "a tool uses wasi:clocks".to_owned(),
        (PluginKind::Tool, "rng") => "a tool uses wasi:random".to_owned(),
        (PluginKind::Tool, "tools") => "a tool cannot call another tool; let a step call both".to_owned(),
        (PluginKind::Tool, _) => "only a step may import it".to_owned(),
    }
}

/// Returns the alternative to an import that depends on the machine, as advice for the author of a step.
fn step_alternative(interface: &str) -> &'static str {
    let package = interface.split('/').next().unwrap_or(interface);
    match (package, interface) {
        ("wasi:clocks", _) => "use latchwork:plugin/clock, the injected clock; a step cannot wait",
        ("wasi:random", _) => "use latchwork:plugin/rng, the injected generator",
        ("wasi:filesystem", _) => {
            "a step has no files; take the content in the input, \
             or call a tool with a directory grant through latchwork:plugin/tools"
        }
        ("wasi:sockets", _) => "a step has no network; call a tool with a tcp grant through latchwork:plugin/tools",
        ("wasi:http", _) => "a step has no network; call a tool with an http grant through latchwork:plugin/tools",
        (_, "wasi:cli/environment") => "a step has no environment; take settings in the input",
        (_, "wasi:cli/exit") => "a step does not exit; return an error",
        (_, "wasi:cli/stdout" | "wasi:cli/stderr") => "write records through latchwork:plugin/log",
        ("wasi:cli", _) => "a step has no terminal; it takes an input and returns an output",
        ("wasi:io", _) => "it comes with the other wasi imports; build without them",
        ("wasi_snapshot_preview1", _) => "build for a target without WASI, such as wasm32-unknown-unknown",
        _ => "a step imports latchwork:plugin/{types,context,clock,rng,tools,events,log} and nothing else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_step_import_names_the_alternative() {
        let none = Grants::default();
        let refused = |import: &str| import_refusal(PluginKind::Step, import, &none, WasiMode::None);
        for interface in STEP_IMPORTS {
            assert_eq!(refused(&interface_name(interface)), None);
        }
        assert!(refused("wasi:clocks/monotonic-clock@0.2.6").unwrap().contains("latchwork:plugin/clock"));
        assert!(refused("wasi:sockets/tcp@0.2.6").unwrap().contains("tcp grant"));
        assert!(refused("latchwork:plugin/invocation@0.1.0").unwrap().contains("attempts"));
        assert!(refused("latchwork:plugin/clock@0.2.0").unwrap().contains("@0.1.0"));
        assert!(refused("env").is_some());
        // The message names virtual WASI only if virtual WASI would provide the import.
        assert!(refused("wasi:clocks/monotonic-clock@0.2.6").unwrap().contains("wasi = \"virtual\""));
        assert!(!refused("wasi:http/incoming-handler@0.2.6").unwrap().contains("virtual"));
    }

    #[test]
    fn virtual_wasi_serves_exactly_the_wasi_0_2_releases() {
        let none = Grants::default();
        let refused = |import: &str| import_refusal(PluginKind::Step, import, &none, WasiMode::Virtual);
        for import in [
            "wasi:clocks/wall-clock@0.2.0",
            "wasi:io/poll@0.2.6",
            "wasi:cli/exit@0.2.9",
            "wasi:sockets/tcp@0.2.12",
            "wasi:http/types@0.2.10",
            "wasi:filesystem/types@0.2.3",
        ] {
            assert_eq!(refused(import), None, "{import}");
        }
        for import in [
            "wasi:clocks/wall-clock@0.3.0",
            "wasi:clocks/wall-clock@0.2.0-rc-2023-11-10",
            "wasi:clocks/wall-clock",
            "wasi:clocks/timezone@0.2.12",
            "wasi:http/incoming-handler@0.2.12",
            "wasi:cli/run@0.2.12",
            "wasi:keyvalue/store@0.2.0",
            "wasi_snapshot_preview1",
            "latchwork:plugin/kv@0.1.0",
        ] {
            assert!(refused(import).is_some(), "{import}");
        }
    }

    #[test]
    fn tool_imports_depend_on_grants() {
        let none = Grants::default();
        let refused = |import: &str| import_refusal(PluginKind::Tool, import, &none, WasiMode::None);
        assert_eq!(refused("wasi:clocks/wall-clock@0.2.6"), None);
        assert_eq!(refused("wasi:cli/environment@0.2.6"), None);
        assert!(refused("wasi:http/outgoing-handler@0.2.6").unwrap().contains("grants = { http"));
        assert!(refused("wasi:sockets/tcp@0.2.6").unwrap().contains("grants = { tcp"));
        assert!(refused("wasi:clocks/wall-clock@0.3.0").is_some());
        assert!(refused(&interface_name("tools")).unwrap().contains("step"));
    }
}
