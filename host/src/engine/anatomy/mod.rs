//! What a file is, read from its bytes alone: nothing of it is compiled or run.
//!
//! * `form` says what the bytes are, `features` which WebAssembly they need that no plugin may use,
//!   `toolchain` what made them.
//! * `worlds` are the interfaces of `wit/`; `difference` holds a component's types against them,
//!   `compare` one signature against another, `shown` writes both down as WIT.
//! * `calls` follows the code from what a component exports to what it imports.
//! * `hints` say what an author does next, `explain` says more of what the engine refused.
//!
//! All of it reads what strangers wrote: sizes are bounded, and nothing here may panic.

mod calls;
mod compare;
mod difference;
mod explain;
mod features;
mod form;
mod hints;
mod names;
mod shown;
mod toolchain;
mod worlds;

pub use calls::{Calls, Frame, Reach};
pub use compare::Mismatch;
pub use difference::{Difference, Kind};
pub(crate) use explain::explain;
pub use features::{Feature, FeatureUse};
pub use form::Form;
pub(crate) use names::of_whole_component as outer_names;
pub use toolchain::{Language, Producer, Toolchain};

use latchwork_core::manifest::{PluginKind, WasiMode};
use wasmparser::component_types::{ComponentEntityType, ComponentInstanceTypeId};
use wasmparser::types::Types;

use crate::config::Grants;

/// A file that was looked at.
pub struct Anatomy {
    form: Form,
    features: Vec<FeatureUse>,
    toolchain: Toolchain,
    types: Option<Types>,
    /// Name and type, in the order of the file.
    imports: Vec<(String, ComponentEntityType)>,
    exports: Vec<(String, ComponentEntityType)>,
    module: Option<form::CoreModule>,
}

/// What an import or an export is, written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name: an interface with its version, or a word.
    pub name: String,
    /// Its functions, each as WIT would write it; of a function by itself, that one.
    pub functions: Vec<String>,
}

impl Anatomy {
    /// Look at a file.
    pub fn of(bytes: &[u8]) -> Self {
        let read = form::read(bytes);
        let features = if read.types.is_some() { features::used(bytes) } else { vec![] };
        let toolchain = toolchain::of(bytes, &read.form);
        let (mut imports, mut exports) = (vec![], vec![]);
        if let (Form::Component, Some(types)) = (&read.form, &read.types) {
            let types = types.as_ref();
            let item = |name: &String, found: Option<&wasmparser::component_types::ComponentItem>| {
                found.map(|item| (name.clone(), item.ty))
            };
            imports = read.imports.iter().filter_map(|n| item(n, types.component_item_for_import(n))).collect();
            exports = read.exports.iter().filter_map(|n| item(n, types.component_item_for_export(n))).collect();
        }
        Self { form: read.form, features, toolchain, types: read.types, imports, exports, module: read.module }
    }

    /// What the bytes are.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Features of WebAssembly it uses that no plugin may.
    pub fn features(&self) -> &[FeatureUse] {
        &self.features
    }

    /// What made it.
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// What it imports, with signatures.
    pub fn imports(&self) -> Vec<Item> {
        self.items(&self.imports)
    }

    /// What it exports, with signatures.
    pub fn exports(&self) -> Vec<Item> {
        self.items(&self.exports)
    }

    /// Of a core module: what it imports and exports, `module.name`.
    pub fn core_module(&self) -> Option<(&[String], &[String])> {
        self.module.as_ref().map(|module| (module.imports.as_slice(), module.exports.as_slice()))
    }

    /// The world it is of, by what it exports: a step exports `run`, a tool `invoke`.
    pub fn kind(&self) -> Option<PluginKind> {
        match (self.exports_interface("run"), self.exports_interface("invoke")) {
            (true, false) => Some(PluginKind::Step),
            (false, true) => Some(PluginKind::Tool),
            _ => None,
        }
    }

    /// Whether it knows nothing of Latchwork and exports functions: they are a tool's operators.
    pub fn is_plain(&self) -> bool {
        let ours = |(name, _): &(String, ComponentEntityType)| name.starts_with("latchwork:plugin/");
        let knows = self.imports.iter().chain(&self.exports).any(ours);
        !knows && self.exports().iter().any(|item| !item.name.starts_with("wasi:") && !item.functions.is_empty())
    }

    /// The world it would be of with the least change, where its exports do not tell.
    pub fn nearest(&self) -> PluginKind {
        match self.kind() {
            Some(kind) => kind,
            None if self.is_plain() => PluginKind::Tool,
            None => difference::nearest(self),
        }
    }

    /// Whether it exports an interface of ours, in the version this host serves.
    pub fn exports_interface(&self, interface: &str) -> bool {
        let name = super::component::full(interface);
        self.exports.iter().any(|(export, _)| *export == name)
    }

    /// Everything in which it is not of a world, under these grants and this WASI. Empty: it is.
    pub fn difference(&self, world: PluginKind, grants: &Grants, wasi: WasiMode) -> Vec<Difference> {
        let mut differences = difference::of(self, world, grants, wasi);
        if self.is_plain() && world == PluginKind::Tool {
            // Its functions are its operators. Only what it imports has to be there, and types alone need nobody.
            let imports = self.imports();
            let calls =
                |it: &Difference| imports.iter().any(|item| item.name == it.interface && !item.functions.is_empty());
            differences.retain(|it| it.is_import() && calls(it));
        }
        differences
    }

    /// Everything in which no grants and no WASI could make it of a world.
    pub fn difference_at_best(&self, world: PluginKind) -> Vec<Difference> {
        let (grants, wasi) = explain::everything_open(world);
        self.difference(world, &grants, wasi)
    }

    /// Whether it is of a world, under the grants and the WASI that it needs.
    pub fn is_of_a_world(&self) -> Option<PluginKind> {
        if self.is_plain() {
            return self.features.is_empty().then_some(PluginKind::Tool);
        }
        let kind = self.kind()?;
        (self.features.is_empty() && self.difference_at_best(kind).is_empty()).then_some(kind)
    }

    /// What its author does next, by what made it and what is wrong.
    pub fn hints(&self, differences: &[Difference]) -> Vec<String> {
        hints::of(self, differences)
    }

    fn items(&self, of: &[(String, ComponentEntityType)]) -> Vec<Item> {
        let Some(types) = &self.types else { return vec![] };
        let shown = shown::Shown::new(types.as_ref());
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
