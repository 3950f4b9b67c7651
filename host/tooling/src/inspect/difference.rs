//! Compares a component's types with a world and lists all differences.

use std::fmt;

use wasmparser::component_types::{ComponentEntityType, ComponentInstanceTypeId};
use wit_parser::{Function, Interface};

use latchwork_core::model::manifest::{PluginKind, WasiMode};
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::interfaces::imports::import_refusal;
use latchwork_engine::interfaces::package::{PACKAGE, interface_name};

use crate::inspect::compare::TypeMismatch;
use crate::inspect::component_info::ComponentInfo;
use crate::inspect::type_printer::TypePrinter;
use crate::inspect::worlds::Worlds;
use crate::inspect::{compare, type_printer, worlds};

/// Kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// The component is a step and a tool at the same time.
    BothWorlds,
    /// An export that the world requires is missing.
    MissingExport,
    /// An export has another signature.
    ExportSignature,
    /// An export has another version of the package.
    ExportVersion,
    /// The component has an import that its world does not allow or its grants do not cover.
    ForeignImport,
    /// An import of a Latchwork interface has another signature.
    ImportSignature,
    /// An import of a Latchwork interface has another version.
    ImportVersion,
}

/// One difference between a component and a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceDifference {
    /// Kind of the difference.
    pub kind: DifferenceKind,
    /// The interface with its version, or the plain name of an import or export.
    pub interface: String,
    /// The function of the interface, if the difference is about one function.
    pub function: Option<String>,
    /// The world's definition, as WIT.
    pub expected: Option<String>,
    /// The component's definition.
    pub found: Option<String>,
    /// For a signature: every location where it differs.
    pub mismatches: Vec<TypeMismatch>,
    /// Advice in one sentence.
    pub instead: String,
}

impl InterfaceDifference {
    /// Returns true if the difference is about an import.
    pub fn is_import(&self) -> bool {
        matches!(
            self.kind,
            DifferenceKind::ForeignImport | DifferenceKind::ImportSignature | DifferenceKind::ImportVersion
        )
    }
}

impl fmt::Display for InterfaceDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (interface, instead) = (&self.interface, &self.instead);
        let name = match &self.function {
            Some(function) => format!("{function} of {interface}"),
            None => interface.clone(),
        };
        match self.kind {
            DifferenceKind::BothWorlds => write!(f, "{instead}"),
            DifferenceKind::MissingExport => write!(f, "it does not export {name}: {instead}"),
            DifferenceKind::ExportVersion => write!(f, "it exports {name}: {instead}"),
            DifferenceKind::ForeignImport | DifferenceKind::ImportVersion => write!(f, "it imports {name}: {instead}"),
            DifferenceKind::ExportSignature | DifferenceKind::ImportSignature => {
                let verb = if self.kind == DifferenceKind::ExportSignature { "exports" } else { "imports" };
                write!(f, "it {verb} {name} with another signature")?;
                for TypeMismatch { at, expected, found } in &self.mismatches {
                    write!(f, "; {at}: expected {expected}, found {found}")?;
                }
                Ok(())
            }
        }
    }
}

pub(super) fn all_differences(
    anatomy: &ComponentInfo,
    world: PluginKind,
    grants: &Grants,
    wasi: WasiMode,
) -> Vec<InterfaceDifference> {
    let mut found = Vec::new();
    if anatomy.exports_interface("run") && anatomy.exports_interface("invoke") {
        let instead = format!(
            "it exports {} and {}; a component is either a step or a tool",
            interface_name("run"),
            interface_name("invoke")
        );
        found.push(InterfaceDifference { instead, ..difference(DifferenceKind::BothWorlds, &interface_name("run")) });
    }
    for interface in Worlds::required_exports(world).iter().chain(Worlds::optional_exports(world)) {
        exports(anatomy, world, interface, &mut found);
    }
    for (import, ty) in &anatomy.imports {
        imports(anatomy, world, (import, ty), (grants, wasi), &mut found);
    }
    found
}

fn difference(kind: DifferenceKind, interface: &str) -> InterfaceDifference {
    InterfaceDifference {
        kind,
        interface: interface.to_owned(),
        function: None,
        expected: None,
        found: None,
        mismatches: vec![],
        instead: String::new(),
    }
}

fn exports(anatomy: &ComponentInfo, world: PluginKind, interface: &str, out: &mut Vec<InterfaceDifference>) {
    let name = interface_name(interface);
    let ours = worlds::get().exported_interface(world, interface).expect("the world has this export");
    if let Some(id) = anatomy.instance(&anatomy.exports, &name) {
        for function in ours.functions.values() {
            exported_function(anatomy, &name, id, function, out);
        }
        return;
    }
    let prefix = format!("{PACKAGE}{interface}@");
    let other = anatomy.exports.iter().find(|(export, _)| export.starts_with(&prefix));
    if let Some((other, _)) = other {
        let instead = format!("this host serves {name}; build against that version of the package");
        out.push(InterfaceDifference {
            found: Some(other.clone()),
            expected: Some(name),
            instead,
            ..difference(DifferenceKind::ExportVersion, other)
        });
    } else if Worlds::required_exports(world).contains(&interface) {
        let expected = format_expected(ours);
        let instead = describe_missing_interface(anatomy, interface, ours);
        out.push(InterfaceDifference {
            expected: Some(expected),
            instead,
            ..difference(DifferenceKind::MissingExport, &name)
        });
    }
}

/// Formats the functions that an interface should have.
fn format_expected(ours: &Interface) -> String {
    let resolve = &worlds::get().resolve;
    ours.functions.values().map(|function| type_printer::our_function(resolve, function)).collect::<Vec<_>>().join("; ")
}

/// Describes why an interface is missing, and mentions a similar export if there is one.
fn describe_missing_interface(anatomy: &ComponentInfo, interface: &str, ours: &Interface) -> String {
    let role = match interface {
        "run" => "a step exports it",
        "invoke" => "a tool exports it",
        _ => "every plugin exports it",
    };
    let plain = ours.functions.keys().find(|name| anatomy.exports.iter().any(|(export, _)| export == *name));
    if let Some(name) = plain {
        return format!("{role}; the component exports function {name} outside of that interface");
    }
    let suffix = format!("/{interface}");
    let others = anatomy
        .exports
        .iter()
        .filter(|(export, _)| export.split('@').next().is_some_and(|name| name.ends_with(&suffix)));
    match others.map(|(export, _)| export.as_str()).next() {
        Some(other) => format!("{role}; {other} belongs to another package"),
        None => role.to_owned(),
    }
}

fn exported_function(
    anatomy: &ComponentInfo,
    interface: &str,
    id: ComponentInstanceTypeId,
    ours: &Function,
    out: &mut Vec<InterfaceDifference>,
) {
    let Some(types) = anatomy.types.as_ref().map(wasmparser::types::Types::as_ref) else { return };
    let resolve = &worlds::get().resolve;
    let expected = Some(type_printer::our_function(resolve, ours));
    let base = InterfaceDifference {
        function: Some(ours.name.clone()),
        expected,
        ..difference(DifferenceKind::MissingExport, interface)
    };
    match types[id].exports.get(&ours.name).map(|item| item.ty) {
        Some(ComponentEntityType::Func(found)) => {
            let names = TypePrinter::with_names_of(types, id);
            let mismatches = compare::function(resolve, ours, &names, types, found);
            if !mismatches.is_empty() {
                let found = Some(names.function(&ours.name, found));
                let instead = "regenerate its bindings from this host's interfaces".to_owned();
                out.push(InterfaceDifference {
                    kind: DifferenceKind::ExportSignature,
                    found,
                    mismatches,
                    instead,
                    ..base
                });
            }
        }
        Some(_) => out.push(InterfaceDifference { instead: "it is exported but is not a function".to_owned(), ..base }),
        None => out.push(InterfaceDifference { instead: "the interface lacks this function".to_owned(), ..base }),
    }
}

fn imports(
    anatomy: &ComponentInfo,
    world: PluginKind,
    (import, ty): (&String, &ComponentEntityType),
    (grants, wasi): (&Grants, WasiMode),
    out: &mut Vec<InterfaceDifference>,
) {
    let own = import.strip_prefix(PACKAGE).map(|name| name.split('@').next().unwrap_or(name));
    if let Some(instead) = import_refusal(world, import, grants, wasi) {
        let ours = own.is_some_and(|name| worlds::get().imported_interface(world, name).is_some() || name == "types");
        let kind = if ours { DifferenceKind::ImportVersion } else { DifferenceKind::ForeignImport };
        out.push(InterfaceDifference { instead, ..difference(kind, import) });
        return;
    }
    let (Some(name), Some(types)) = (own, anatomy.types.as_ref().map(wasmparser::types::Types::as_ref)) else { return };
    let ComponentEntityType::Instance(id) = *ty else {
        let instead = "it must be imported as an interface".to_owned();
        out.push(InterfaceDifference { instead, ..difference(DifferenceKind::ForeignImport, import) });
        return;
    };
    let resolve = &worlds::get().resolve;
    let Some(ours) = worlds::get().imported_interface(world, name) else { return };
    let names = TypePrinter::with_names_of(types, id);
    for (function, item) in &types[id].exports {
        let ComponentEntityType::Func(found) = item.ty else { continue };
        let base = InterfaceDifference {
            function: Some(function.clone()),
            found: Some(names.function(function, found)),
            ..difference(DifferenceKind::ImportSignature, import)
        };
        let Some(ours) = ours.functions.get(function) else {
            let known = ours.functions.keys().map(String::as_str);
            let meant = latchwork_core::encoding::suggest::did_you_mean(function, known);
            let instead = format!("the interface has no such function{meant}");
            out.push(InterfaceDifference { kind: DifferenceKind::ForeignImport, instead, ..base });
            continue;
        };
        let mismatches = compare::function(resolve, ours, &names, types, found);
        if !mismatches.is_empty() {
            let expected = Some(type_printer::our_function(resolve, ours));
            let instead = "regenerate its bindings from this host's interfaces".to_owned();
            out.push(InterfaceDifference { expected, mismatches, instead, ..base });
        }
    }
}
