//! A component of a core module that a compiler made.

use std::path::{Path, PathBuf};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::recipe::Recipe;
use super::{BuildError, world};

/// What stands between a core module and its world.
pub(super) struct Adapter<'a> {
    /// What the core module imports from it.
    pub(super) name: &'a str,
    /// The module, which serves all of the component's exports.
    pub(super) module: &'a [u8],
}

/// Make a component of `module`, in the world of the plugin; where it is.
pub(super) fn component(
    mut module: Vec<u8>,
    adapter: Option<Adapter<'_>>,
    recipe: &Recipe,
    obj: &Path,
) -> Result<PathBuf, BuildError> {
    let wit = world::write(obj, recipe)?;
    let encode = || -> anyhow::Result<Vec<u8>> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(&wit)?;
        let whole = resolve.select_world(&[package], Some(world::WORLD))?;
        let Some(adapter) = adapter else {
            embed_component_metadata(&mut module, &resolve, whole, StringEncoding::UTF8)?;
            return ComponentEncoder::default().validate(true).module(&module)?.encode();
        };
        let imports = resolve.select_world(&[package], Some(world::IMPORTS))?;
        embed_component_metadata(&mut module, &resolve, imports, StringEncoding::UTF8)?;
        let mut between = adapter.module.to_vec();
        embed_component_metadata(&mut between, &resolve, whole, StringEncoding::UTF8)?;
        ComponentEncoder::default().validate(true).module(&module)?.adapter(adapter.name, &between)?.encode()
    };
    // Most often an import that is not there: a step that calls kv, a call of the system.
    let component = encode().map_err(|error| BuildError::Failed {
        what: "making a component".to_owned(),
        status: "the module does not fit its world".to_owned(),
        output: format!("{error:#}"),
    })?;
    let made = obj.join("component.wasm");
    std::fs::write(&made, component).map_err(|error| BuildError::io("write", &made, error))?;
    Ok(made)
}
