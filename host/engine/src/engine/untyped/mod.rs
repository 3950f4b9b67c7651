//! Untyped components: WebAssembly components that export WIT functions and were not written for Latchwork.
//!
//! * `read` converts the engine's types into the types of `ty`, or returns why a function cannot be called with JSON.
//!   `schema`, `input` and `output` implement the JSON mapping of these types.
//! * `operators` derives a manifest from the exports and from their settings in `latch.toml`.
//! * `seal` stores the derived manifest with the component. The digest covers component and manifest.
//!
//! Floors, top first: `operators` · `seal` · `types` · `call_result` · `input`, `output`, `read`, `schema` · `ty`.

mod call_result;
mod input;
mod operators;
mod output;
mod read;
mod schema;
mod seal;
mod ty;
mod types;

#[cfg(test)]
pub(crate) mod tests;

use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use latchwork_core::model::bounds::UNTYPED_FUNCTIONS;

use crate::capability::settings::{ManifestSource, PluginSettings};
use crate::engine::describe;
use crate::interfaces::PluginProblem;
use crate::interfaces::package::PACKAGE;
use call_result::{function_error, invalid_input};
use types::ExportedFunction;

pub(crate) use call_result::UntypedReturn;
pub(crate) use types::{CallableFunction, ExportName, Functions, LoadedUntyped};

/// Returns true if the component exports functions and none of its imports or exports belongs to Latchwork.
pub(crate) fn is_untyped(engine: &wasmtime::Engine, component: &Component) -> bool {
    let ty = component.component_type();
    let knows = |name: &str| name.starts_with(PACKAGE);
    if ty.imports(engine).any(|(name, _)| knows(name)) || ty.exports(engine).any(|(name, _)| knows(name)) {
        return false;
    }
    !exported_functions(engine, component).is_empty()
}

/// Returns true if an import contains only types. Such an import needs no implementation.
pub(crate) fn has_only_types(engine: &wasmtime::Engine, item: &ComponentItem) -> bool {
    match item {
        ComponentItem::Type(_) => true,
        ComponentItem::ComponentInstance(instance) => {
            instance.exports(engine).all(|(_, export)| has_only_types(engine, &export.ty))
        }
        _ => false,
    }
}

/// Lists the exported functions. Functions in WASI interfaces, such as the entry point of a command-line program, are
/// not operators and are left out.
fn exported_functions(engine: &wasmtime::Engine, component: &Component) -> Vec<ExportedFunction> {
    let mut found = Vec::new();
    for (name, export) in component.component_type().exports(engine) {
        if found.len() > UNTYPED_FUNCTIONS {
            break;
        }
        match &export.ty {
            ComponentItem::ComponentFunc(func) => {
                let export = ExportName { interface: None, function: name.to_owned() };
                found.push((export, read::signature(func)));
            }
            ComponentItem::ComponentInstance(instance) if !name.starts_with("wasi:") => {
                for (function, export) in instance.exports(engine).take(UNTYPED_FUNCTIONS + 1) {
                    let ComponentItem::ComponentFunc(func) = &export.ty else { continue };
                    let export = ExportName { interface: Some(name.to_owned()), function: function.to_owned() };
                    let signature = match function.starts_with('[') {
                        true => Err(vec![
                            "it belongs to a resource, which exists in one instance only; each call runs in its own \
                             instance, so a later call could not use it"
                                .to_owned(),
                        ]),
                        false => read::signature(func),
                    };
                    found.push((export, signature));
                }
            }
            _ => {}
        }
    }
    found
}

/// Derives operators from a component's functions, as `latch.toml` or the sealed manifest states.
pub(crate) fn load(
    engine: &wasmtime::Engine,
    component: &Component,
    bytes: &[u8],
    settings: &PluginSettings,
) -> Result<LoadedUntyped, Vec<PluginProblem>> {
    let found = exported_functions(engine, component);
    if found.len() > UNTYPED_FUNCTIONS {
        let wrong = format!("a component can have at most {UNTYPED_FUNCTIONS} operators");
        return Err(vec![PluginProblem::Export { export: format!("more than {UNTYPED_FUNCTIONS} functions"), wrong }]);
    }
    let ty = component.component_type();
    let touches = ty.imports(engine).find(|(_, import)| !has_only_types(engine, &import.ty));
    let kept = match &settings.operators {
        ManifestSource::Sealed => Some(seal::read(bytes).map_err(|wrong| vec![PluginProblem::Describe(wrong)])?),
        ManifestSource::Overrides(_) => None,
    };
    let (sealed, is_new) = match (kept, &settings.operators) {
        (Some(sealed), _) => (sealed, false),
        (None, ManifestSource::Overrides(stated)) => {
            let made = operators::ManifestInputs {
                plugin: &settings.name,
                grants: &settings.grants,
                first_import: touches.map(|(name, _)| name),
                stated,
            };
            (made.derive_manifest(&found)?, true)
        }
        (None, ManifestSource::Sealed) => unreachable!("a sealed manifest was read above"),
    };
    let manifest = sealed.manifest();
    let schemas = describe::check_derived_manifest(&manifest)?;
    let mut functions = Functions::new();
    for operator in &sealed.operators {
        let signature = found.iter().find(|(export, _)| *export == operator.export);
        let function = signature.and_then(|(export, signature)| {
            let interface = match &export.interface {
                Some(name) => Some(component.get_export_index(None, name.as_str())?),
                None => None,
            };
            let index = component.get_export_index(interface.as_ref(), export.function.as_str())?;
            Some(CallableFunction { index, signature: signature.clone().ok()? })
        });
        let function = function.ok_or_else(|| {
            vec![PluginProblem::Describe(format!(
                "the sealed manifest names {}, which the component does not export",
                operator.export
            ))]
        })?;
        functions.insert(operator.spec.name.clone(), function);
    }
    let seal = is_new.then(|| seal::write(&sealed));
    Ok(LoadedUntyped { manifest, schemas, functions, seal })
}
