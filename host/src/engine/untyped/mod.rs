//! Untyped components: WebAssembly components that export WIT functions and were not written for Latchwork.
//!
//! * `read` converts the engine's types into those of `ty`, or returns why a function cannot be called with
//!   JSON. `schema`, `input` and `output` implement the JSON mapping of these types.
//! * `operators` derives a manifest from the exports and from their settings in `latch.toml`.
//! * `seal` stores that manifest with the component. The digest covers both.

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

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Val};

use latchwork_core::model::error::{Code, Failure};

use super::describe;
use crate::capability::settings::{ManifestSource, PluginSettings};
use crate::interfaces::Problem;
use crate::interfaces::package::PACKAGE;
use output::JsonWriteError;
use ty::{Signature, Ty};

pub(crate) use types::{Export, Function, Functions, LoadedUntyped};

/// Maximum host memory for the values of one answer, in bytes, regardless of the operator's limit.
const VALUES_BYTES_MAX: usize = 512 << 20;

/// Maximum number of functions of one component.
const FUNCTIONS_MAX: usize = 500;

/// Returns true if the component exports functions and none of its imports or exports belongs to Latchwork.
pub(crate) fn is_untyped(engine: &wasmtime::Engine, component: &Component) -> bool {
    let ty = component.component_type();
    let knows = |name: &str| name.starts_with(PACKAGE);
    if ty.imports(engine).any(|(name, _)| knows(name)) || ty.exports(engine).any(|(name, _)| knows(name)) {
        return false;
    }
    !exported_functions(engine, component).is_empty()
}

/// Returns true if an import contains only types, which need no implementation.
pub(crate) fn has_only_types(engine: &wasmtime::Engine, item: &ComponentItem) -> bool {
    match item {
        ComponentItem::Type(_) => true,
        ComponentItem::ComponentInstance(instance) => {
            instance.exports(engine).all(|(_, export)| has_only_types(engine, &export.ty))
        }
        _ => false,
    }
}

/// An exported function, with its type or the reasons why it cannot be called with JSON.
type ExportedFunction = (Export, Result<Signature, Vec<String>>);

/// Lists the exported functions. Functions in WASI interfaces, such as the entry point of a command-line program, are
/// not operators and are left out.
fn exported_functions(engine: &wasmtime::Engine, component: &Component) -> Vec<ExportedFunction> {
    let mut found = Vec::new();
    for (name, export) in component.component_type().exports(engine) {
        if found.len() > FUNCTIONS_MAX {
            break;
        }
        match &export.ty {
            ComponentItem::ComponentFunc(func) => {
                let export = Export { interface: None, function: name.to_owned() };
                found.push((export, read::signature(func)));
            }
            ComponentItem::ComponentInstance(instance) if !name.starts_with("wasi:") => {
                for (function, export) in instance.exports(engine).take(FUNCTIONS_MAX + 1) {
                    let ComponentItem::ComponentFunc(func) = &export.ty else { continue };
                    let export = Export { interface: Some(name.to_owned()), function: function.to_owned() };
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
) -> Result<LoadedUntyped, Vec<Problem>> {
    let found = exported_functions(engine, component);
    if found.len() > FUNCTIONS_MAX {
        let wrong = format!("a component can have at most {FUNCTIONS_MAX} operators");
        return Err(vec![Problem::Export { export: format!("more than {FUNCTIONS_MAX} functions"), wrong }]);
    }
    let ty = component.component_type();
    let touches = ty.imports(engine).find(|(_, import)| !has_only_types(engine, &import.ty));
    let kept = match &settings.operators {
        ManifestSource::Sealed => Some(seal::read(bytes).map_err(|wrong| vec![Problem::Describe(wrong)])?),
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
    let schemas = describe::check_manifest(&manifest, latchwork_core::model::manifest::PluginKind::Tool)?;
    let mut functions = Functions::new();
    for operator in &sealed.operators {
        let signature = found.iter().find(|(export, _)| *export == operator.export);
        let function = signature.and_then(|(export, signature)| {
            let interface = match &export.interface {
                Some(name) => Some(component.get_export_index(None, name.as_str())?),
                None => None,
            };
            let index = component.get_export_index(interface.as_ref(), export.function.as_str())?;
            Some(Function { index, signature: signature.clone().ok()? })
        });
        let function = function.ok_or_else(|| {
            vec![Problem::Describe(format!(
                "the sealed manifest names {}, which the component does not export",
                operator.export
            ))]
        })?;
        functions.insert(operator.spec.name.clone(), function);
    }
    let seal = is_new.then(|| seal::write(&sealed));
    Ok(LoadedUntyped { manifest, schemas, functions, seal })
}

/// Result of [`Function::call`] if the guest did not trap.
pub(crate) enum UntypedReturn {
    /// The answer as canonical JSON.
    Text(String),
    /// The function returned its own error.
    Error(Failure),
    /// The arguments do not fit, so the function was not called.
    NotCalled(Failure),
    /// The answer has no JSON form or is too long. Contains its start, if available.
    Unusable(Failure, Option<String>),
}

fn invalid_input(wrong: String) -> Failure {
    Failure::new(Code::InvalidInput, format!("the input does not fit the operator: {wrong}"))
}

/// Returns the failure for the error case of a function's result. The failure is final, because nothing
/// indicates that another try would succeed.
fn function_error(ty: Option<&Ty>, value: Option<&Val>, max: usize) -> Failure {
    const MESSAGE_BYTES_MAX: usize = 1 << 10;
    let said = match value {
        Some(Val::String(text)) => Some(text.as_str()),
        Some(Val::Enum(name) | Val::Variant(name, _)) => Some(name.as_str()),
        _ => None,
    };
    let said =
        said.map(|text| format!(": {}", crate::guest::convert::truncate(text, MESSAGE_BYTES_MAX))).unwrap_or_default();
    let mut failure = Failure::new(Code::InvalidInput, format!("the component answered with its error{said}"));
    match output::canonical_text(ty, value, max) {
        Ok(text) => failure.detail = value.map(|_| text),
        Err(JsonWriteError::TooLong(_)) => failure.message.push_str(", which is longer than limits.output"),
        Err(JsonWriteError::NoForm(why)) => failure.message.push_str(&format!(", which has no JSON form: {why}")),
    }
    failure
}
