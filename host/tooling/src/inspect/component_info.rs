//! Kind, features, toolchain, imports and exports of a file.

use wasmparser::component_types::{ComponentEntityType, ComponentInstanceTypeId};
use wasmparser::types::Types;

use latchwork_core::model::manifest::PluginKind;

use crate::inspect::features::FeatureUse;
use crate::inspect::file_kind::FileKind;
use crate::inspect::toolchain::ProducerToolchain;
use crate::inspect::{features, file_kind, toolchain, type_printer};

/// Result of analysing a file.
pub struct ComponentInfo {
    form: FileKind,
    features: Vec<FeatureUse>,
    toolchain: ProducerToolchain,
    pub(super) types: Option<Types>,
    /// Name and type, in the order of the file.
    pub(super) imports: Vec<(String, ComponentEntityType)>,
    pub(super) exports: Vec<(String, ComponentEntityType)>,
    pub(super) module: Option<file_kind::CoreModule>,
}

impl ComponentInfo {
    /// Analyses a file.
    pub fn read(bytes: &[u8]) -> Self {
        let read = file_kind::read(bytes);
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
    pub fn toolchain(&self) -> &ProducerToolchain {
        &self.toolchain
    }

    /// Imports with their signatures.
    pub fn imports(&self) -> Vec<ExternItem> {
        self.items(&self.imports)
    }

    /// Exports with their signatures.
    pub fn exports(&self) -> Vec<ExternItem> {
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

    /// Returns true if the component exports this Latchwork interface in the version that this host serves.
    pub fn exports_interface(&self, interface: &str) -> bool {
        let name = latchwork_engine::interfaces::package::interface_name(interface);
        self.exports.iter().any(|(export, _)| *export == name)
    }

    fn items(&self, of: &[(String, ComponentEntityType)]) -> Vec<ExternItem> {
        let Some(types) = &self.types else { return vec![] };
        let printer = type_printer::TypePrinter::new(types.as_ref());
        let functions = |name: &str, ty: &ComponentEntityType| match ty {
            ComponentEntityType::Instance(id) => printer.instance(*id),
            ComponentEntityType::Func(id) => vec![printer.function(name, *id)],
            _ => vec![],
        };
        of.iter().map(|(name, ty)| ExternItem { name: name.clone(), functions: functions(name, ty) }).collect()
    }

    pub(super) fn instance(&self, of: &[(String, ComponentEntityType)], name: &str) -> Option<ComponentInstanceTypeId> {
        of.iter().find_map(|(found, ty)| match ty {
            ComponentEntityType::Instance(id) if found == name => Some(*id),
            _ => None,
        })
    }
}

/// An import or export in readable form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternItem {
    /// Name: an interface with its version, or a plain name.
    pub name: String,
    /// Functions in WIT syntax: all functions of an interface, or the single function that is imported or exported.
    pub functions: Vec<String>,
}
