//! The failure of a handler.

use std::fmt;

use serde::Serialize;

use crate::bindings::types;

/// The ten failure codes of plugins. The host may retry a call that fails with one of the first five codes. The other
/// codes are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The remote system did not answer in time.
    NetworkTimeout,
    /// The remote system asked for a lower request rate.
    RateLimit,
    /// A provider failed temporarily.
    TemporaryProviderError,
    /// A database was temporarily locked.
    TransientDbLock,
    /// A system that the plugin needs is not available.
    DependencyUnavailable,
    /// A policy, a gate or a grant forbids the call.
    PolicyDenied,
    /// The input does not fit what the operator accepts.
    InvalidInput,
    /// A value does not match its schema.
    SchemaValidationFailed,
    /// Something that the call requires is missing, such as a config key or a secret.
    MissingRequiredContext,
    /// The remote system rejected the credentials.
    AuthForbidden,
}

/// States whether the failed call may have changed the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The call changed nothing. The host may execute it again.
    No,
    /// The outcome is unknown. A call that may change the world is then in doubt, and the host resolves it
    /// before any retry.
    Unknown,
}

/// A failure: a code, a sentence for people, and the facts that the host needs for a retry.
///
/// ```
/// use latchwork_guest::{Code, Error};
/// use std::time::Duration;
///
/// let slow_down = Error::rate_limit("429 Too Many Requests").retry_after(Duration::from_secs(2));
/// assert_eq!(slow_down.code(), Code::RateLimit);
///
/// // The request was sent and no answer arrived, so its outcome is unknown.
/// let lost = Error::network_timeout("no answer in 10 s").applied_unknown();
/// # let _ = lost;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    code: Code,
    message: String,
    retry_after_ms: Option<u32>,
    detail: Option<String>,
    applied: Applied,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $function:ident => $code:ident, $applied:ident;)*) => {
        impl Error {
            $($(#[$doc])* pub fn $function(message: impl Into<String>) -> Self {
                Self::new(Code::$code, message, Applied::$applied)
            })*
        }
    };
}

constructors! {
    /// The remote system did not answer in time. The system may have acted on the request.
    network_timeout => NetworkTimeout, Unknown;
    /// The remote system asked for a lower request rate and did nothing.
    rate_limit => RateLimit, No;
    /// A provider failed temporarily. The provider may have acted on the request.
    temporary_provider_error => TemporaryProviderError, Unknown;
    /// A database was locked. Nothing was written.
    transient_db_lock => TransientDbLock, No;
    /// A system that the plugin needs is not available. The call may have changed the world.
    dependency_unavailable => DependencyUnavailable, Unknown;
    /// A policy, a gate or a grant forbids the call. Nothing was done.
    policy_denied => PolicyDenied, No;
    /// The input does not fit what the operator accepts. Nothing was done.
    invalid_input => InvalidInput, No;
    /// A value does not match its schema. The call may have changed the world.
    schema_validation_failed => SchemaValidationFailed, Unknown;
    /// Something that the call requires is missing, such as a config key or a secret. Nothing was done.
    missing_required_context => MissingRequiredContext, No;
    /// The remote system rejected the credentials and did nothing.
    auth_forbidden => AuthForbidden, No;
}

impl Error {
    fn new(code: Code, message: impl Into<String>, applied: Applied) -> Self {
        Self { code, message: message.into(), retry_after_ms: None, detail: None, applied }
    }

    /// Sets how long the host waits before its next try. This wait replaces the host's own backoff.
    #[must_use]
    pub fn retry_after(mut self, wait: std::time::Duration) -> Self {
        self.retry_after_ms = Some(u32::try_from(wait.as_millis()).unwrap_or(u32::MAX));
        self
    }

    /// Declares that the call changed nothing. The host may execute it again.
    #[must_use]
    pub fn not_applied(mut self) -> Self {
        self.applied = Applied::No;
        self
    }

    /// Declares that the call may have changed the world. Use this whenever the outcome is unknown, and for every
    /// failure after the first effect of a call. A wrong `not_applied` lets the host repeat a call that took effect.
    #[must_use]
    pub fn applied_unknown(mut self) -> Self {
        self.applied = Applied::Unknown;
        self
    }

    /// Attaches further information as JSON. A value that cannot be serialized is left out.
    #[must_use]
    pub fn detail(mut self, detail: impl Serialize) -> Self {
        self.detail = serde_json::to_string(&detail).ok();
        self
    }

    /// Prefixes the message with the action that failed: `sending: 503`.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// Returns the failure code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// States whether the failed call may have changed the world.
    pub fn applied(&self) -> Applied {
        self.applied
    }

    /// Returns the attached detail as JSON text. If the host denied the call, the code is `policy_denied` or
    /// `dependency_unavailable`, and the detail contains the host's own code: `GATE_REJECTED`, `BUDGET_EXCEEDED`, ….
    pub fn detail_json(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

macro_rules! codes {
    ($($code:ident),*) => {
        impl From<types::ErrorCode> for Code {
            fn from(code: types::ErrorCode) -> Self {
                match code { $(types::ErrorCode::$code => Code::$code),* }
            }
        }
        impl From<Code> for types::ErrorCode {
            fn from(code: Code) -> Self {
                match code { $(Code::$code => types::ErrorCode::$code),* }
            }
        }
    };
}
codes!(
    NetworkTimeout,
    RateLimit,
    TemporaryProviderError,
    TransientDbLock,
    DependencyUnavailable,
    PolicyDenied,
    InvalidInput,
    SchemaValidationFailed,
    MissingRequiredContext,
    AuthForbidden
);

impl From<types::Error> for Error {
    fn from(error: types::Error) -> Self {
        Self {
            code: error.code.into(),
            message: error.message,
            retry_after_ms: error.retry_after_ms,
            detail: error.detail,
            applied: match error.applied {
                types::Applied::No => Applied::No,
                types::Applied::Unknown => Applied::Unknown,
            },
        }
    }
}

impl From<Error> for types::Error {
    fn from(error: Error) -> Self {
        Self {
            code: error.code.into(),
            message: error.message,
            retry_after_ms: error.retry_after_ms,
            detail: error.detail,
            applied: match error.applied {
                Applied::No => types::Applied::No,
                Applied::Unknown => types::Applied::Unknown,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_fields_survive_wit_conversion() {
        let error = Error::temporary_provider_error("503")
            .retry_after(std::time::Duration::from_millis(1500))
            .detail(serde_json::json!({ "status": 503 }))
            .context("sending");
        let there: types::Error = error.clone().into();
        assert_eq!((there.message.as_str(), there.retry_after_ms), ("sending: 503", Some(1500)));
        assert_eq!(Error::from(there), error);
    }

    #[test]
    fn default_applied_depends_on_the_code() {
        assert_eq!(Error::invalid_input("").applied(), Applied::No);
        assert_eq!(Error::rate_limit("").applied(), Applied::No);
        assert_eq!(Error::network_timeout("").applied(), Applied::Unknown);
        assert_eq!(Error::network_timeout("").not_applied().applied(), Applied::No);
    }
}
