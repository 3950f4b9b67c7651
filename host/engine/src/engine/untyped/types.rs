//! Exported functions of an untyped component.

use std::collections::BTreeMap;

use serde_json::Value;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, Instance, Val};

use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::Manifest;

use crate::engine::schema;
use crate::engine::schema::Schemas;
use crate::engine::tool_state::ToolState;
use crate::engine::untyped::output::JsonWriteError;
use crate::engine::untyped::ty::{FunctionSignature, Ty};
use crate::engine::untyped::{UntypedReturn, function_error, invalid_input, output};

/// A function that a component exports, either directly or in an interface.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct ExportName {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) interface: Option<String>,
    pub(super) function: String,
}

impl std::fmt::Display for ExportName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.interface {
            Some(interface) => write!(f, "{interface}#{}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

/// A function that is ready to be called.
#[derive(Clone)]
pub(crate) struct CallableFunction {
    pub(super) index: ComponentExportIndex,
    pub(super) signature: FunctionSignature,
}

impl CallableFunction {
    /// Returns the host memory that the values of an answer may use, in bytes. The operator's limit cannot raise this
    /// memory above [`bounds::UNTYPED_VALUE_BYTES`].
    pub(crate) fn hostcall_fuel(output_bytes: u32) -> usize {
        (output_bytes as usize).saturating_mul(size_of::<Val>()).min(bounds::UNTYPED_VALUE_BYTES)
    }

    /// Checks a value against the operator's input type.
    pub(crate) fn check_input(&self, value: &Value) -> Result<(), Failure> {
        self.signature.read_arguments(value).map(|_| ()).map_err(|wrong| invalid_input(&wrong))
    }

    /// Checks a value against the operator's output type.
    pub(crate) fn check_output(&self, value: &Value) -> Result<(), Failure> {
        let refuse =
            |text| schema::misfit(Code::SchemaValidationFailed, &format!("the answer does not fit its type: {text}"));
        self.signature.check_answer(value).map_err(refuse)
    }

    /// Calls the function with canonical arguments.
    pub(crate) async fn call(
        &self,
        store: &mut Store<ToolState>,
        instance: &Instance,
        args: &str,
        output_bytes: u32,
    ) -> wasmtime::Result<UntypedReturn> {
        let value: Value = match serde_json::from_str(args) {
            Ok(value) => value,
            Err(error) => return Ok(UntypedReturn::NotCalled(invalid_input(&format!("not JSON: {error}")))),
        };
        let params = match self.signature.read_arguments(&value) {
            Ok(params) => params,
            Err(wrong) => return Ok(UntypedReturn::NotCalled(invalid_input(&wrong))),
        };
        let function = instance
            .get_func(&mut *store, self.index)
            .ok_or_else(|| wasmtime::format_err!("the component has lost an export"))?;
        let mut results = vec![Val::Bool(false); usize::from(self.signature.result.is_some())];
        function.call_async(&mut *store, &params, &mut results).await?;
        Ok(self.convert_return(results.pop(), output_bytes as usize))
    }

    fn convert_return(&self, value: Option<Val>, max: usize) -> UntypedReturn {
        let (ty, value) = match (&self.signature.result, value) {
            (Some(Ty::Result(_, err)), Some(Val::Result(Err(value)))) => {
                return UntypedReturn::Error(function_error(err.as_deref(), value.as_deref(), max));
            }
            (Some(Ty::Result(ok, _)), Some(Val::Result(Ok(value)))) => (ok.as_deref(), value.map(|value| *value)),
            (ty, value) => (ty.as_ref(), value),
        };
        match output::canonical_text(ty, value.as_ref(), max) {
            Ok(text) => UntypedReturn::Text(text),
            Err(JsonWriteError::TooLong(kept)) => {
                let message = format!("the answer has more than {max} bytes; raise limits.output or answer less");
                UntypedReturn::Unusable(Failure::new(Code::OutputLimit, message), Some(kept))
            }
            Err(JsonWriteError::NoForm(why)) => {
                let message = format!("the answer has no JSON form: {why}");
                UntypedReturn::Unusable(Failure::new(Code::SchemaValidationFailed, message), None)
            }
        }
    }
}

/// Functions by the operators that they serve.
pub(crate) type Functions = BTreeMap<Operator, CallableFunction>;

/// Result of loading an untyped component.
pub(crate) struct LoadedUntyped {
    pub(crate) manifest: Manifest,
    pub(crate) schemas: BTreeMap<Operator, Schemas>,
    pub(crate) functions: Functions,
    /// Bytes to append to the component's own bytes. `None` if the component contains its sealed manifest
    /// already.
    pub(crate) seal: Option<Vec<u8>>,
}

/// An exported function, with its type or the reasons why it cannot be called with JSON.
pub(crate) type ExportedFunction = (ExportName, Result<FunctionSignature, Vec<String>>);
