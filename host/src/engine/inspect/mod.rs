//! Analyses a file from its bytes alone, without compiling or running it.
//!
//! * `file_kind` determines the kind of the file, `features` the refused WebAssembly features it uses, and
//!   `toolchain` the tools that built it.
//! * `worlds` contains the interfaces of `wit/`. `difference` compares a component's types with them,
//!   `compare` compares two signatures, and `type_printer` formats types as WIT.
//! * `calls` follows calls from a component's exports to its imports.
//! * `hints` gives advice to the plugin's author. `explain` adds details to the engine's refusals.
//!
//! All of these modules read untrusted input. Sizes are bounded, and no input may cause a panic.

mod calls;
mod compare;
mod difference;
mod explain;
mod features;
mod file_kind;
mod hints;
mod names;
mod toolchain;
mod type_printer;
mod worlds;

pub use calls::{CallGraph, PathFrame, Reachability};
pub use compare::Mismatch;
pub use difference::{Difference, DifferenceKind};
pub(crate) use explain::explain;
pub use features::{Feature, FeatureUse};
pub use file_kind::FileKind;
pub(crate) use names::names_of_component as outer_names;
pub use toolchain::{Language, Producer, Toolchain};

use wasmparser::component_types::{ComponentEntityType, ComponentInstanceTypeId};
use wasmparser::types::Types;

use latchwork_core::model::manifest::{PluginKind, WasiMode};

use crate::capability::grants::Grants;

/// Result of analysing a file.
pub struct ComponentInfo {
    form: FileKind,
    features: Vec<FeatureUse>,
    toolchain: Toolchain,
    types: Option<Types>,
    /// Name and type, in the order of the file.
    imports: Vec<(String, ComponentEntityType)>,
    exports: Vec<(String, ComponentEntityType)>,
    module: Option<crate::engine::inspect::file_kind::CoreModule>,
}

/// An import or export in readable form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Name: an interface with its version, or a plain name.
    pub name: String,
    /// Functions of the interface in WIT syntax. For a single function, only that function.
    pub functions: Vec<String>,
}

impl ComponentInfo {
    /// Analyses a file.
    pub fn read(bytes: &[u8]) -> Self {
        let read = crate::engine::inspect::file_kind::read(bytes);
        let features = if read.types.is_some() { features::refused_features(bytes) } else { vec![] };
        let toolchain = toolchain::detect(bytes, &read.form);
        let (mut imports, mut exports) = (vec![], vec![]);
        if let (FileKind::Component, Some(types)) = (&read.form, &read.types) {
            let types = types.as_ref();
            let item = |name: &String, found: Option<&wasmparser::component_types::ComponentItem>| {
                found.map(|item| (name.clone(), item.ty))
            };
            imports = read.imports.iter().filter_map(|n| item(n, types.component_item_for_import(n))).collect();
            exports = read.exports.iter().filter_map(|n| item(n, types.component_item_for_export(n))).collect();
        }
        Self { form: read.form, features, toolchain, types: read.types, imports, exports, module: read.module }
    }

    /// Kind of the file.
    pub fn file_kind(&self) -> &FileKind {
        &self.form
    }

    /// Refused WebAssembly features that the file uses.
    pub fn features(&self) -> &[FeatureUse] {
        &self.features
    }

    /// Tools that built the file.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Imports with their signatures.
    pub fn imports(&self) -> Vec<Item> {
        self.items(&self.imports)
    }

    /// Exports with their signatures.
    pub fn exports(&self) -> Vec<Item> {
        self.items(&self.exports)
    }

    /// Returns the imports (`module.name`) and exports of a core module, or `None` for any other file.
    pub fn core_module(&self) -> Option<(&[String], &[String])> {
        self.module.as_ref().map(|module| (module.imports.as_slice(), module.exports.as_slice()))
    }

    /// Returns the world that the exports identify: a step exports `run`, a tool exports `invoke`.
    pub fn kind(&self) -> Option<PluginKind> {
        match (self.exports_interface("run"), self.exports_interface("invoke")) {
            (true, false) => Some(PluginKind::Step),
            (false, true) => Some(PluginKind::Tool),
            _ => None,
        }
    }

    /// Returns true for an untyped component: it exports functions but was not written for Latchwork. Its
    /// functions become the operators of a tool.
    pub fn is_untyped(&self) -> bool {
        let ours = |(name, _): &(String, ComponentEntityType)| name.starts_with("latchwork:plugin/");
        let knows = self.imports.iter().chain(&self.exports).any(ours);
        !knows && self.exports().iter().any(|item| !item.name.starts_with("wasi:") && !item.functions.is_empty())
    }

    /// Returns the component's world, or the world that needs the fewest changes if the exports do not
    /// identify one.
    pub fn nearest_world(&self) -> PluginKind {
        match self.kind() {
            Some(kind) => kind,
            None if self.is_untyped() => PluginKind::Tool,
            None => difference::nearest(self),
        }
    }

    /// Returns true if the component exports this Latchwork interface in the version that this host serves.
    pub fn exports_interface(&self, interface: &str) -> bool {
        let name = crate::engine::component_names::interface_name(interface);
        self.exports.iter().any(|(export, _)| *export == name)
    }

    /// Lists all differences between the component and a world, with these grants and this WASI mode. An
    /// empty list means that the component fits the world.
    pub fn differences(&self, world: PluginKind, grants: &Grants, wasi: WasiMode) -> Vec<Difference> {
        let mut differences = difference::all_differences(self, world, grants, wasi);
        if self.is_untyped() && world == PluginKind::Tool {
            // The functions of an untyped component are its operators, so export differences do not matter.
            // Imports that contain only types need no implementation.
            let imports = self.imports();
            let calls =
                |it: &Difference| imports.iter().any(|item| item.name == it.interface && !item.functions.is_empty());
            differences.retain(|it| it.is_import() && calls(it));
        }
        differences
    }

    /// Lists the differences that no grants and no WASI mode could resolve.
    pub fn unresolvable_differences(&self, world: PluginKind) -> Vec<Difference> {
        let (grants, wasi) = explain::widest_settings(world);
        self.differences(world, &grants, wasi)
    }

    /// Returns the component's world if the component fits that world with suitable grants and WASI mode.
    pub fn fitting_world(&self) -> Option<PluginKind> {
        if self.is_untyped() {
            return self.features.is_empty().then_some(PluginKind::Tool);
        }
        let kind = self.kind()?;
        (self.features.is_empty() && self.unresolvable_differences(kind).is_empty()).then_some(kind)
    }

    /// Returns advice for the plugin's author, based on the toolchain and on the given differences.
    pub fn hints(&self, differences: &[Difference]) -> Vec<String> {
        hints::hints_for(self, differences)
    }

    fn items(&self, of: &[(String, ComponentEntityType)]) -> Vec<Item> {
        let Some(types) = &self.types else { return vec![] };
        let shown = crate::engine::inspect::type_printer::TypePrinter::new(types.as_ref());
        let functions = |name: &str, ty: &ComponentEntityType| match ty {
            ComponentEntityType::Instance(id) => shown.instance(*id),
            ComponentEntityType::Func(id) => vec![shown.function(name, *id)],
            _ => vec![],
        };
        of.iter().map(|(name, ty)| Item { name: name.clone(), functions: functions(name, ty) }).collect()
    }

    fn instance(&self, of: &[(String, ComponentEntityType)], name: &str) -> Option<ComponentInstanceTypeId> {
        of.iter().find_map(|(found, ty)| match ty {
            ComponentEntityType::Instance(id) if found == name => Some(*id),
            _ => None,
        })
    }
}
