//! The interfaces of `wit/`, and the exports that each world requires or allows. The text of the interfaces is compiled
//! into this program.

use std::path::Path;
use std::sync::LazyLock;

use wit_parser::{Interface, Resolve, SourceMap, WorldId, WorldItem};

use latchwork_core::model::manifest::PluginKind;
use latchwork_engine::interfaces::wit::WIT;

/// The package of `wit/`, with all references between its types resolved.
static WORLDS: LazyLock<Worlds> = LazyLock::new(Worlds::read);

/// The two worlds of Latchwork.
pub(super) struct Worlds {
    pub(super) resolve: Resolve,
    step: WorldId,
    /// The tool world with every optional export.
    tool: WorldId,
}

/// Returns the resolved interfaces.
pub(super) fn get() -> &'static Worlds {
    &WORLDS
}

impl Worlds {
    fn read() -> Self {
        let mut sources = SourceMap::default();
        for (path, text) in WIT {
            sources.push(Path::new(path), *text);
        }
        let group = sources.parse().map_err(|(_, error)| error).expect("our own interfaces parse");
        let mut resolve = Resolve::default();
        let package = resolve.push_group(group).expect("our own interfaces resolve");
        let world = |name| resolve.packages[package].worlds[name];
        let (step, tool) = (world("step"), world("tool-accountable"));
        Self { step, tool, resolve }
    }

    /// Returns an interface that a world imports, by its name without package and version.
    pub(super) fn imported_interface(&self, world: PluginKind, interface: &str) -> Option<&Interface> {
        self.find(&self.resolve.worlds[self.id(world)].imports, interface)
    }

    /// Returns an interface that a world exports or may export, by its name without package and version.
    pub(super) fn exported_interface(&self, world: PluginKind, interface: &str) -> Option<&Interface> {
        self.find(&self.resolve.worlds[self.id(world)].exports, interface)
    }

    /// Interfaces that a component of this world must export.
    pub(super) fn required_exports(world: PluginKind) -> [&'static str; 2] {
        match world {
            PluginKind::Step => ["plugin", "run"],
            PluginKind::Tool => ["plugin", "invoke"],
        }
    }

    /// Interfaces that a component of this world may export in addition.
    pub(super) fn optional_exports(world: PluginKind) -> &'static [&'static str] {
        match world {
            PluginKind::Step => &[],
            PluginKind::Tool => &["reconcile", "verify", "compensate"],
        }
    }

    fn id(&self, world: PluginKind) -> WorldId {
        match world {
            PluginKind::Step => self.step,
            PluginKind::Tool => self.tool,
        }
    }

    fn find<'w>(
        &'w self,
        items: impl IntoIterator<Item = (&'w wit_parser::WorldKey, &'w WorldItem)>,
        interface: &str,
    ) -> Option<&'w Interface> {
        items.into_iter().find_map(|(_, item)| match item {
            WorldItem::Interface { id, .. } => {
                let found = &self.resolve.interfaces[*id];
                (found.name.as_deref() == Some(interface)).then_some(found)
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_worlds_have_their_interfaces() {
        let worlds = get();
        for (world, import, export) in [(PluginKind::Step, "tools", "run"), (PluginKind::Tool, "kv", "invoke")] {
            assert!(worlds.imported_interface(world, import).is_some_and(|interface| !interface.functions.is_empty()));
            assert!(worlds.imported_interface(world, export).is_none());
            let all =
                Worlds::required_exports(world).into_iter().chain(Worlds::optional_exports(world).iter().copied());
            for interface in all {
                assert!(worlds.exported_interface(world, interface).is_some(), "{interface}");
            }
        }
    }
}
