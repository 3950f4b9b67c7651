//! Finds the world of a component, and the differences between the component and this world.

use latchwork_core::model::manifest::{PluginKind, WasiMode};
use latchwork_engine::capability::grants::{Grants, HttpGrant, Origin, TcpGrant};
use latchwork_engine::interfaces::package::PACKAGE;

use crate::inspect::component_info::ComponentInfo;
use crate::inspect::difference::{InterfaceDifference, all_differences};
use crate::inspect::worlds;
use crate::inspect::worlds::Worlds;

impl ComponentInfo {
    /// Returns the component's world, or the world that needs the fewest changes if the exports do not identify a
    /// world.
    pub fn nearest_world(&self) -> PluginKind {
        match self.kind() {
            Some(kind) => kind,
            None if self.is_untyped() => PluginKind::Tool,
            None => nearest(self),
        }
    }

    /// Lists all differences between the component and a world, with these grants and this WASI mode. An
    /// empty list means that the component fits the world.
    pub fn differences(&self, world: PluginKind, grants: &Grants, wasi: WasiMode) -> Vec<InterfaceDifference> {
        let mut differences = all_differences(self, world, grants, wasi);
        if self.is_untyped() && world == PluginKind::Tool {
            // Two kinds of difference do not count for an untyped component. The exports of the component never differ,
            // because its exported functions become operators. Imports that contain only types need no implementation.
            let imports = self.imports();
            let calls = |it: &InterfaceDifference| {
                imports.iter().any(|item| item.name == it.interface && !item.functions.is_empty())
            };
            differences.retain(|it| it.is_import() && calls(it));
        }
        differences
    }

    /// Lists the differences that no grants and no WASI mode could resolve.
    pub fn unresolvable_differences(&self, world: PluginKind) -> Vec<InterfaceDifference> {
        let (grants, wasi) = widest_settings(world);
        self.differences(world, &grants, wasi)
    }

    /// Returns the component's world if the component fits that world with suitable grants and WASI mode.
    pub fn fitting_world(&self) -> Option<PluginKind> {
        if self.is_untyped() {
            return self.features().is_empty().then_some(PluginKind::Tool);
        }
        let kind = self.kind()?;
        (self.features().is_empty() && self.unresolvable_differences(kind).is_empty()).then_some(kind)
    }
}

/// Returns the world to which a component fits with fewer changes, if the exports of the component do not identify a
/// world. Ignores imports that belong to no world.
fn nearest(anatomy: &ComponentInfo) -> PluginKind {
    let ours = |world| anatomy.imports.iter().filter(|(name, _)| is_import_of_world(world, name)).count();
    let tool_exports = Worlds::optional_exports(PluginKind::Tool).iter().any(|name| anatomy.exports_interface(name));
    if tool_exports || ours(PluginKind::Tool) > ours(PluginKind::Step) { PluginKind::Tool } else { PluginKind::Step }
}

/// Returns true if the import is an interface of the world.
fn is_import_of_world(world: PluginKind, import: &str) -> bool {
    let name = import.strip_prefix(PACKAGE).and_then(|name| name.split('@').next());
    name.is_some_and(|name| worlds::get().imported_interface(world, name).is_some())
}

/// Returns grants and a WASI mode that together allow as many imports as possible. An import that these settings refuse
/// is refused in every configuration.
fn widest_settings(kind: PluginKind) -> (Grants, WasiMode) {
    let mut grants = Grants::default();
    if kind == PluginKind::Tool {
        let origin = Origin { scheme: "https".into(), host: "host.invalid".into(), port: 443 };
        grants.http.push(HttpGrant::read_only(origin));
        grants.tcp.push(TcpGrant { host: "host.invalid".into(), port: 443 });
    }
    (grants, if kind == PluginKind::Step { WasiMode::Virtual } else { WasiMode::None })
}
