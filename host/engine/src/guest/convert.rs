//! Conversions between the types of the bindings and the types of the core crate.

use latchwork_core::encoding::truncate;
use latchwork_core::model::effect::{Output, StateChange, Usage};
use latchwork_core::model::error::{Code, DENIED_BY_SDK, Failure};
use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::{
    Determinism, EffectKind, Limits, Manifest, OperatorSpec, RequestedLimits, ResolutionSpec,
};

use crate::guest::bindings::{export, import};
pub(crate) use crate::guest::fault::MESSAGE_BYTES_MAX;
use crate::guest::limits::oversized;

/// Key in `detail` under which an SDK reports an exception that the operator did not handle. The value of the key
/// contains the details of the exception. No error code of guests stands for this case, because a plugin returns each
/// of these codes on purpose.
const EXCEPTION_KEY: &str = "latchwork:exception";

/// Returns the failure for an error that is larger than an answer may be. An error has the limit of an answer, because
/// it is stored like an answer, and in an event as well.
pub(crate) fn oversized_error(error: &import::types::Error, limits: &Limits) -> Option<Failure> {
    let len = error.message.len() + error.detail.as_ref().map_or(0, String::len);
    (len > limits.output_bytes as usize).then(|| oversized(len, limits))
}

/// Converts the error of a step into a failure. A detail that is too large is left out. The code stays, because replay
/// compares it.
pub(crate) fn bounded_failure(error: import::types::Error, limits: &Limits) -> Failure {
    let is_oversized = oversized_error(&error, limits).is_some();
    let mut failure = failure(error);
    if is_oversized && let Some(detail) = failure.detail.take() {
        let left_out = format!(" (a detail of {} bytes is left out; raise limits.output)", detail.len());
        failure.message.push_str(&left_out);
    }
    failure
}

/// Converts a guest's error into a failure. The caller reads the error's `applied` field separately.
pub(crate) fn failure(error: import::types::Error) -> Failure {
    let message = truncate::at_bytes(&error.message, MESSAGE_BYTES_MAX).start.to_owned();
    if let Some((code, detail)) = error.detail.as_deref().and_then(unhandled_exception) {
        return Failure { code, message, detail: Some(detail), retry_after_ms: None };
    }
    let detail = error.detail.map(|text| match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => text,
        // `detail` must be JSON. A text that is not JSON is stored as a JSON string.
        Err(_) => serde_json::Value::String(text).to_string(),
    });
    Failure { code: code(error.code), message, detail, retry_after_ms: error.retry_after_ms }
}

/// Recognizes two reports of an SDK in `detail`: an exception that the operator did not handle, or an access that the
/// SDK refused. Returns the code and the detail of the failure. Returns `None` if `detail` is not an object, or has any
/// member besides the report.
fn unhandled_exception(detail: &str) -> Option<(Code, String)> {
    let marked = [(EXCEPTION_KEY, Code::PluginException), (DENIED_BY_SDK, Code::CapabilityDenied)];
    let marked = marked.into_iter().filter(|(key, _)| detail.contains(key));
    let whole = |(key, code): (&str, Code)| {
        let serde_json::Value::Object(mut object) = serde_json::from_str(detail).ok()? else { return None };
        let reported = object.remove(key)?;
        let is_whole = object.is_empty();
        // If the SDK refused the access, the failure keeps the whole `detail` with its key `DENIED_BY_SDK`. The key
        // later shows the host that no grant would allow the access.
        let kept = if key == DENIED_BY_SDK { detail.to_owned() } else { reported.to_string() };
        is_whole.then_some((code, kept))
    };
    marked.filter_map(whole).next()
}

/// Converts a recorded failure into the error that a step receives. The error has one of the ten error codes of guests.
pub(crate) fn guest_error(recorded: &Failure) -> import::types::Error {
    use import::types::{Applied, ErrorCode};
    let applied = match recorded.code {
        Code::InvocationLost | Code::IndeterminateEffect => Applied::Unknown,
        _ => Applied::No,
    };
    let seen = recorded.for_guest();
    let code = match seen.code {
        Code::NetworkTimeout => ErrorCode::NetworkTimeout,
        Code::RateLimit => ErrorCode::RateLimit,
        Code::TemporaryProviderError => ErrorCode::TemporaryProviderError,
        Code::TransientDbLock => ErrorCode::TransientDbLock,
        Code::PolicyDenied => ErrorCode::PolicyDenied,
        Code::InvalidInput => ErrorCode::InvalidInput,
        Code::SchemaValidationFailed => ErrorCode::SchemaValidationFailed,
        Code::MissingRequiredContext => ErrorCode::MissingRequiredContext,
        Code::AuthForbidden => ErrorCode::AuthForbidden,
        // `Failure::for_guest` returns only the codes above and `DependencyUnavailable`.
        _ => ErrorCode::DependencyUnavailable,
    };
    import::types::Error {
        code,
        message: seen.message,
        retry_after_ms: seen.retry_after_ms,
        detail: seen.detail,
        applied,
    }
}

/// Converts a tool's answer.
pub(crate) fn output(output: import::types::ToolOutput) -> Output {
    Output {
        result: output.result,
        receipt: output.receipt,
        state_changes: output.state_changes.into_iter().map(state_change).collect(),
        usage: output.usage.map(|usage| Usage {
            model: usage.model,
            provider_trace_id: usage.provider_trace_id,
            tokens_in: usage.tokens_in,
            tokens_out: usage.tokens_out,
            cost_micro_usd: usage.cost_micro_usd,
            credits: usage.credits,
        }),
    }
}

/// Converts a recorded change into the argument of `verify`.
pub(crate) fn guest_state_change(change: &StateChange) -> import::types::StateChange {
    let change = change.clone();
    import::types::StateChange {
        resource_type: change.resource_type,
        resource_id: change.resource_id,
        operation: change.operation,
        version: change.version,
        etag: change.etag,
        external_ref: change.external_ref,
    }
}

/// Converts the answer of `describe`. The names are not checked yet.
pub(crate) fn manifest(manifest: export::plugin::Manifest) -> Manifest {
    Manifest { version: manifest.version, operators: manifest.operators.into_iter().map(operator).collect() }
}

fn state_change(change: import::types::StateChange) -> StateChange {
    StateChange {
        resource_type: change.resource_type,
        resource_id: change.resource_id,
        operation: change.operation,
        version: change.version,
        etag: change.etag,
        external_ref: change.external_ref,
    }
}

fn code(code: import::types::ErrorCode) -> Code {
    use import::types::ErrorCode;
    match code {
        ErrorCode::NetworkTimeout => Code::NetworkTimeout,
        ErrorCode::RateLimit => Code::RateLimit,
        ErrorCode::TemporaryProviderError => Code::TemporaryProviderError,
        ErrorCode::TransientDbLock => Code::TransientDbLock,
        ErrorCode::DependencyUnavailable => Code::DependencyUnavailable,
        ErrorCode::PolicyDenied => Code::PolicyDenied,
        ErrorCode::InvalidInput => Code::InvalidInput,
        ErrorCode::SchemaValidationFailed => Code::SchemaValidationFailed,
        ErrorCode::MissingRequiredContext => Code::MissingRequiredContext,
        ErrorCode::AuthForbidden => Code::AuthForbidden,
    }
}

fn operator(operator: export::plugin::Operator) -> OperatorSpec {
    use export::plugin as wit;
    let mut effects: Vec<_> = operator
        .effects
        .into_iter()
        .map(|effect| match effect {
            wit::Effect::ReadOnly => EffectKind::ReadOnly,
            wit::Effect::ProduceOutcome => EffectKind::ProduceOutcome,
            wit::Effect::InternalWrite => EffectKind::InternalWrite,
            wit::Effect::ExternalWrite => EffectKind::ExternalWrite,
            wit::Effect::ExternalSend => EffectKind::ExternalSend,
        })
        .collect();
    effects.sort_unstable();
    effects.dedup();
    OperatorSpec {
        name: Operator::new(operator.name),
        description: operator.description,
        input_schema: operator.input_schema,
        output_schema: operator.output_schema,
        effects,
        determinism: match operator.determinism {
            wit::Determinism::Pure => Determinism::Pure,
            wit::Determinism::Stable => Determinism::Stable,
            wit::Determinism::External => Determinism::External,
        },
        outcome_type: operator.outcome_type,
        outcome_status: operator.outcome_status,
        resolution: ResolutionSpec {
            idempotent_by_key_seconds: operator.resolution.idempotent_by_key_seconds,
            settling_ms: operator.resolution.settling_ms,
        },
        limits: RequestedLimits {
            memory_bytes: operator.limits.memory_bytes,
            timeout_ms: operator.limits.timeout_ms,
            output_bytes: operator.limits.output_bytes,
        },
    }
}
