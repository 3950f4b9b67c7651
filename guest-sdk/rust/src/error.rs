//! Why a handler failed.

use std::fmt;

use serde::Serialize;

use crate::bindings::types;

/// The ten codes a plugin may fail with. The host retries the first five by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The other side did not answer in time.
    NetworkTimeout,
    /// The other side asked to slow down.
    RateLimit,
    /// A provider failed in a way that passes.
    TemporaryProviderError,
    /// A database was locked for the moment.
    TransientDbLock,
    /// Something the plugin needs is not there.
    DependencyUnavailable,
    /// A policy, a gate or a grant forbids it.
    PolicyDenied,
    /// The input is not what the operator takes.
    InvalidInput,
    /// A value does not fit its schema.
    SchemaValidationFailed,
    /// The context names something that is not there.
    MissingRequiredContext,
    /// The other side refused the credentials.
    AuthForbidden,
}

/// Whether the world may have been changed by the call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Certainly not: the host may execute the call again.
    No,
    /// It cannot be told: a call that may change the world has to be looked into.
    Unknown,
}

/// A failure: a code, a sentence for a person, and what the host should know.
///
/// ```
/// use latchwork_guest::{Code, Error};
/// use std::time::Duration;
///
/// let slow_down = Error::rate_limit("429 Too Many Requests").retry_after(Duration::from_secs(2));
/// assert_eq!(slow_down.code(), Code::RateLimit);
///
/// // The request went out and no answer came: nobody knows whether it was carried out.
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
    /// The other side did not answer in time; whether it acted is unknown.
    network_timeout => NetworkTimeout, Unknown;
    /// The other side asked to slow down, and did nothing.
    rate_limit => RateLimit, No;
    /// A provider failed in a way that passes; whether it acted is unknown.
    temporary_provider_error => TemporaryProviderError, Unknown;
    /// A database was locked, and nothing was written.
    transient_db_lock => TransientDbLock, No;
    /// Something the plugin needs is not there; whether anything happened is unknown.
    dependency_unavailable => DependencyUnavailable, Unknown;
    /// A policy, a gate or a grant forbids it; nothing was done.
    policy_denied => PolicyDenied, No;
    /// The input is not what the operator takes; nothing was done.
    invalid_input => InvalidInput, No;
    /// A value does not fit its schema; whether anything happened is unknown.
    schema_validation_failed => SchemaValidationFailed, Unknown;
    /// The context names something that is not there; nothing was done.
    missing_required_context => MissingRequiredContext, No;
    /// The other side refused the credentials, and did nothing.
    auth_forbidden => AuthForbidden, No;
}

impl Error {
    fn new(code: Code, message: impl Into<String>, applied: Applied) -> Self {
        Self { code, message: message.into(), retry_after_ms: None, detail: None, applied }
    }

    /// Ask the host to wait so long before its next try; wins over the host's own backoff.
    #[must_use]
    pub fn retry_after(mut self, wait: std::time::Duration) -> Self {
        self.retry_after_ms = Some(u32::try_from(wait.as_millis()).unwrap_or(u32::MAX));
        self
    }

    /// Say that the call certainly changed nothing.
    #[must_use]
    pub fn not_applied(mut self) -> Self {
        self.applied = Applied::No;
        self
    }

    /// Say that the call may have changed the world. Where in doubt, this is the honest answer.
    #[must_use]
    pub fn applied_unknown(mut self) -> Self {
        self.applied = Applied::Unknown;
        self
    }

    /// Attach whatever else is known, as JSON. A value that cannot be written as JSON is left out.
    #[must_use]
    pub fn detail(mut self, detail: impl Serialize) -> Self {
        self.detail = serde_json::to_string(&detail).ok();
        self
    }

    /// Put words before the message: what was being done when it failed.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the world may have been changed.
    pub fn applied(&self) -> Applied {
        self.applied
    }

    /// What is attached, as JSON text. A host code behind `policy_denied` or
    /// `dependency_unavailable` (`GATE_REJECTED`, `BUDGET_EXCEEDED`, …) is found here.
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
    fn what_is_set_survives_the_boundary() {
        let error = Error::temporary_provider_error("503")
            .retry_after(std::time::Duration::from_millis(1500))
            .detail(serde_json::json!({ "status": 503 }))
            .context("sending");
        let there: types::Error = error.clone().into();
        assert_eq!((there.message.as_str(), there.retry_after_ms), ("sending: 503", Some(1500)));
        assert_eq!(Error::from(there), error);
    }

    #[test]
    fn a_refusal_changes_nothing_and_a_silence_may_have() {
        assert_eq!(Error::invalid_input("").applied(), Applied::No);
        assert_eq!(Error::rate_limit("").applied(), Applied::No);
        assert_eq!(Error::network_timeout("").applied(), Applied::Unknown);
        assert_eq!(Error::network_timeout("").not_applied().applied(), Applied::No);
    }
}
