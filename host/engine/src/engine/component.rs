//! The static check of a component: determines its world and lists all forbidden imports and missing exports.

use memchr::memmem;
use wasmtime::component::Component;

use latchwork_core::model::manifest::{PluginKind, WasiMode};

use crate::capability::grants::Grants;
use crate::capability::settings::LoadSettings;
use crate::engine::shape::Shape;
use crate::engine::untyped;
use crate::interfaces::imports::import_refusal;
use crate::interfaces::package::{PACKAGE, interface_name};
use crate::interfaces::{PluginProblem, names};

/// First bytes of every component: magic number, version and layer.
const COMPONENT_HEADER: [u8; 8] = *b"\0asm\x0d\0\x01\0";

/// Result of reading only the names of imports and exports, without compiling the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameCheck {
    /// A component of one of the two worlds.
    Recognized(Shape),
    /// No import or export names a Latchwork interface. The component may be an untyped component. This is decided
    /// during loading, from the types of its exports.
    Unrecognized,
}

/// Determines the world from the names of imports and exports, and checks the imports, before compilation.
pub(crate) fn check_names(bytes: &[u8], terms: LoadSettings<'_>) -> Result<NameCheck, Vec<PluginProblem>> {
    // The message does not name the kind of the file. `Explain` adds the kind later.
    if !bytes.starts_with(&COMPONENT_HEADER) {
        return Err(vec![PluginProblem::NotAComponent("it does not start with the header of a component".to_owned())]);
    }
    // A component that cannot be parsed here is refused with a reason during compilation.
    let Some((imports, exports)) = names::names_of_component(bytes) else { return Ok(NameCheck::Unrecognized) };
    if !imports.iter().chain(&exports).any(|name| name.starts_with(PACKAGE)) {
        return Ok(NameCheck::Unrecognized);
    }
    let imports: Vec<&str> = imports.iter().map(String::as_str).collect();
    let exports: Vec<&str> = exports.iter().map(String::as_str).collect();
    determine_world(&imports, &exports, terms.grants, terms.wasi).map(NameCheck::Recognized)
}

/// Determines the world of a compiled component from its exports, and checks its imports against this world. Returns
/// the component's shape.
pub(crate) fn check_component(
    engine: &wasmtime::Engine,
    component: &Component,
    grants: &Grants,
    wasi: WasiMode,
) -> Result<Shape, Vec<PluginProblem>> {
    if untyped::is_untyped(engine, component) {
        return check_untyped(engine, component, grants, wasi);
    }
    let ty = component.component_type();
    let imports: Vec<&str> = ty.imports(engine).map(|(name, _)| name).collect();
    let exports: Vec<&str> = ty.exports(engine).map(|(name, _)| name).collect();
    determine_world(&imports, &exports, grants, wasi)
}

fn determine_world(
    imports: &[&str],
    exports: &[&str],
    grants: &Grants,
    wasi: WasiMode,
) -> Result<Shape, Vec<PluginProblem>> {
    let has = |interface: &str| exports.contains(&interface_name(interface).as_str());
    let mut problems = Vec::new();
    let kind = match (has("run"), has("invoke")) {
        (true, false) => Some(PluginKind::Step),
        (false, true) => Some(PluginKind::Tool),
        (true, true) => {
            problems.push(PluginProblem::Export {
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
                problems.push(PluginProblem::Export {
                    export: interface_name(interface),
                    wrong: describe_missing_export(interface, exports),
                });
            }
            None
        }
    };
    if !has("plugin") {
        problems.push(PluginProblem::Export {
            export: interface_name("plugin"),
            wrong: describe_missing_export("plugin", exports),
        });
    }
    for import in imports {
        // If the exports do not identify a world, the imports are checked against the world of steps, which is
        // stricter. The list of problems then contains the imports too.
        if let Some(instead) = import_refusal(kind.unwrap_or(PluginKind::Step), import, grants, wasi) {
            problems.push(PluginProblem::Import { import: (*import).to_owned(), instead });
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

/// Checks the imports of an untyped component. It may import the same interfaces as a tool. An import that contains
/// only types needs no implementation and always passes. The returned [`Shape`] has no optional functions.
fn check_untyped(
    engine: &wasmtime::Engine,
    component: &Component,
    grants: &Grants,
    wasi: WasiMode,
) -> Result<Shape, Vec<PluginProblem>> {
    let kind = PluginKind::Tool;
    let ty = component.component_type();
    let imports = ty.imports(engine).filter(|(_, import)| !untyped::has_only_types(engine, &import.ty));
    let refused = imports.filter_map(|(import, _)| {
        Some(PluginProblem::Import { import: import.to_owned(), instead: import_refusal(kind, import, grants, wasi)? })
    });
    let problems: Vec<_> = refused.collect();
    match problems.is_empty() {
        true => Ok(Shape { kind, reconcile: false, verify: false, compensate: false, is_untyped: true }),
        false => Err(problems),
    }
}

/// Checks a plugin's settings against its world.
pub(crate) fn check_settings(shape: Shape, terms: LoadSettings<'_>) -> Result<(), Vec<PluginProblem>> {
    match shape.kind {
        PluginKind::Step if *terms.grants != Grants::default() => Err(vec![PluginProblem::GrantsOnStep]),
        PluginKind::Tool if terms.wasi != WasiMode::None => Err(vec![PluginProblem::VirtualWasiOnTool]),
        PluginKind::Step if terms.has_operator_overrides => Err(vec![PluginProblem::RedundantOverrides]),
        _ => Ok(()),
    }
}

/// Guesses the world from byte patterns in the component. The guess may be wrong.
pub(crate) fn guess_kind(bytes: &[u8]) -> PluginKind {
    let contains = |text: &str| memmem::find(bytes, text.as_bytes()).is_some();
    let names = |interface: &str| contains(&interface_name(interface));
    let ours = contains(PACKAGE);
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
