//! Wraps a compiled core module as a component.

use std::path::{Path, PathBuf};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::build::error::BuildError;
use crate::build::recipe::Recipe;
use crate::build::world;

/// Adapter module that connects a core module with the world of its plugin.
pub(super) struct Adapter<'a> {
    /// Module name under which the core module imports the adapter.
    pub(super) name: &'a str,
    /// Wasm bytes of the adapter. The adapter provides all exports of the component.
    pub(super) module: &'a [u8],
}

/// Wraps `module` as a component in the plugin's world and returns the component's path.
pub(super) fn encode_component(
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
    // The usual cause is an import that the world does not have. Examples are a system call, or `kv` in a step.
    let component = encode().map_err(|error| BuildError::Failed {
        what: "making a component".to_owned(),
        status: "the module does not match its world".to_owned(),
        output: format!("{error:#}"),
    })?;
    let made = obj.join("component.wasm");
    std::fs::write(&made, component).map_err(|error| BuildError::io("write", &made, error))?;
    Ok(made)
}
