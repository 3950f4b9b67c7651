//! Result of calling an exported function, and its conversion into JSON or a failure.

use wasmtime::component::Val;

use latchwork_core::encoding::truncate;
use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};

use crate::engine::schema;
use crate::engine::untyped::output;
use crate::engine::untyped::output::JsonWriteError;
use crate::engine::untyped::ty::Ty;

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

/// Returns the failure for a function that returned its error case. The failure is final: the component does not state
/// that another try could succeed.
pub(crate) fn function_error(ty: Option<&Ty>, value: Option<&Val>, max: usize) -> Failure {
    let explanation = match value {
        Some(Val::String(text)) => Some(text.as_str()),
        Some(Val::Enum(name) | Val::Variant(name, _)) => Some(name.as_str()),
        _ => None,
    };
    let explanation = explanation
        .map(|text| format!(": {}", truncate::at_bytes(text, bounds::UNTYPED_ERROR_BYTES).start))
        .unwrap_or_default();
    let mut failure = Failure::new(Code::InvalidInput, format!("the component answered with its error{explanation}"));
    match output::canonical_text(ty, value, max) {
        Ok(text) => failure.detail = value.map(|_| text),
        Err(JsonWriteError::TooLong(_)) => failure.message.push_str(", which is longer than limits.output"),
        Err(JsonWriteError::NoForm(why)) => failure.message.push_str(&format!(", which has no JSON form: {why}")),
    }
    failure
}

pub(crate) fn invalid_input(wrong: &str) -> Failure {
    schema::misfit(Code::InvalidInput, &format!("the input does not fit the operator: {wrong}"))
}
