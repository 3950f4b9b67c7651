//! What a component asks for and offers, read from its type: nothing of it is run.

use latchwork_core::ids::Hash;
use latchwork_core::manifest::PluginKind;

use super::error::Problem;
use super::{Engine, component, plain};

/// Imports and exports of a component, as it names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Its world, where its exports tell.
    pub kind: Option<PluginKind>,
    /// Whether it is a tool only because its functions are taken as such.
    pub is_plain: bool,
    /// What it asks for.
    pub imports: Vec<String>,
    /// What it offers.
    pub exports: Vec<String>,
}

impl Engine {
    /// Look at a component, also at one that would be refused.
    ///
    /// # Errors
    /// The bytes are no component.
    pub fn outline(&self, bytes: &[u8]) -> Result<Outline, Problem> {
        let profile = self.profile(component::guess(bytes));
        let engine = &profile.engine;
        // Whoever looks at it often loads it as well: compiled once.
        let component = self.compile(profile, Hash::of(&[bytes]), bytes);
        let component = component.map_err(|error| Problem::NotAComponent(format!("{error:#}")))?;
        let ty = component.component_type();
        let imports = ty.imports(engine).map(|(name, _)| name.to_owned()).collect();
        let exports: Vec<String> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
        let has = |interface| exports.contains(&component::full(interface));
        let kind = match (has("run"), has("invoke")) {
            (true, false) => Some(PluginKind::Step),
            (false, true) => Some(PluginKind::Tool),
            _ => None,
        };
        let is_plain = plain::is_plain(engine, &component);
        let kind = if is_plain { Some(PluginKind::Tool) } else { kind };
        Ok(Outline { kind, is_plain, imports, exports })
    }
}
