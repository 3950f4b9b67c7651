//! Imports, exports and world of a component, read from its type without running it.

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::PluginKind;

use crate::engine::untyped;
use crate::engine::{Engine, code_size, component};
use crate::interfaces::PluginProblem;

/// Imports and exports of a component, as the component names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentInterface {
    /// World of the component, if its exports identify one.
    pub kind: Option<PluginKind>,
    /// True for an untyped component, whose functions are used as the operators of a tool.
    pub is_untyped: bool,
    /// Names of the imports.
    pub imports: Vec<String>,
    /// Names of the exports.
    pub exports: Vec<String>,
}

impl Engine {
    /// Reads imports, exports and world of a component. Also works for a component that would be refused.
    ///
    /// # Errors
    /// The bytes are not a component, or are larger than `bytes_max`, or their compilation would take too long.
    pub fn component_interface(&self, bytes: &[u8], bytes_max: u64) -> Result<ComponentInterface, PluginProblem> {
        code_size::check_before_compiling(bytes, bytes_max)?;
        let profile = self.profile(component::guess_kind(bytes));
        let engine = &profile.engine;
        // The component is compiled with the cache, because a caller of this function often loads the same component as
        // well.
        let component = self.compile(profile, Hash::of(&[bytes]), bytes);
        let component = component.map_err(code_size::problem_of)?;
        let ty = component.component_type();
        let imports = ty.imports(engine).map(|(name, _)| name.to_owned()).collect();
        let exports: Vec<String> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
        let has = |interface| exports.contains(&crate::interfaces::package::interface_name(interface));
        let kind = match (has("run"), has("invoke")) {
            (true, false) => Some(PluginKind::Step),
            (false, true) => Some(PluginKind::Tool),
            _ => None,
        };
        let is_plain = untyped::is_untyped(engine, &component);
        let kind = if is_plain { Some(PluginKind::Tool) } else { kind };
        Ok(ComponentInterface { kind, is_untyped: is_plain, imports, exports })
    }
}
