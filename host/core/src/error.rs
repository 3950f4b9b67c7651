//! Reason codes: the same words in WIT, events, HTTP and CLI.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, retries $retries:expr;)*) => {
        /// Why a step, a call or a job did not succeed (or waits).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }
        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];
            /// The word of events, HTTP and CLI: `RATE_LIMIT`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }
            /// How many retries follow the first try by default; 0 for final codes.
            pub fn retries(self) -> u32 {
                match self { $(Code::$name => $retries),* }
            }
        }
    };
}

codes! {
    /// The other side did not answer in time.
    NetworkTimeout = "NETWORK_TIMEOUT", retries 3;
    /// The other side asked to slow down.
    RateLimit = "RATE_LIMIT", retries 5;
    /// A provider failed in a way that passes.
    TemporaryProviderError = "TEMPORARY_PROVIDER_ERROR", retries 3;
    /// A database was locked for the moment.
    TransientDbLock = "TRANSIENT_DB_LOCK", retries 5;
    /// Something the tool needs is not there.
    DependencyUnavailable = "DEPENDENCY_UNAVAILABLE", retries 3;
    /// A policy, a gate or a grant forbids it.
    PolicyDenied = "POLICY_DENIED", retries 0;
    /// The input is not what the operator takes.
    InvalidInput = "INVALID_INPUT", retries 0;
    /// A value does not fit its schema.
    SchemaValidationFailed = "SCHEMA_VALIDATION_FAILED", retries 0;
    /// The context names something that is not there.
    MissingRequiredContext = "MISSING_REQUIRED_CONTEXT", retries 0;
    /// The other side refused the credentials.
    AuthForbidden = "AUTH_FORBIDDEN", retries 0;
    /// A step plugin breaks the determinism contract.
    ContractViolation = "CONTRACT_VIOLATION", retries 0;
    /// The plugin trapped.
    PluginTrap = "PLUGIN_TRAP", retries 0;
    /// The operator's code raised an exception that it does not handle.
    PluginException = "PLUGIN_EXCEPTION", retries 0;
    /// The plugin needs something that it is not granted.
    CapabilityDenied = "CAPABILITY_DENIED", retries 0;
    /// A place that the plugin is granted cannot be reached from this machine.
    NetworkUnavailable = "NETWORK_UNAVAILABLE", retries 3;
    /// The plugin used up its fuel.
    OutOfFuel = "OUT_OF_FUEL", retries 0;
    /// The plugin wanted more memory than its limit.
    MemoryLimit = "MEMORY_LIMIT", retries 0;
    /// The plugin recursed too deeply.
    StackOverflow = "STACK_OVERFLOW", retries 0;
    /// The plugin ran longer than its limit. The machine may have been too busy: a call that certainly changed
    /// nothing is tried again, as a step is (§8).
    WallClockLimit = "WALL_CLOCK_LIMIT", retries 3;
    /// The plugin answered with more bytes than its limit.
    OutputLimit = "OUTPUT_LIMIT", retries 0;
    /// A wait step was not answered in time.
    WaitTimedOut = "WAIT_TIMED_OUT", retries 0;
    /// A person refused.
    GateRejected = "GATE_REJECTED", retries 0;
    /// Nobody decided in time.
    GateExpired = "GATE_EXPIRED", retries 0;
    /// The budget does not cover the call.
    BudgetExceeded = "BUDGET_EXCEEDED", retries 0;
    /// Whether a call happened cannot be told.
    InvocationLost = "INVOCATION_LOST", retries 0;
    /// Somebody cancelled the job.
    Cancelled = "CANCELLED", retries 0;
    /// A defect of the host.
    Internal = "INTERNAL", retries 0;
    /// A person has to approve the exact call.
    RequiresApproval = "REQUIRES_APPROVAL", retries 0;
    /// A wait step waits for its signal.
    RequiresSignal = "REQUIRES_SIGNAL", retries 0;
    /// A timer is running.
    WaitingTimer = "WAITING_TIMER", retries 0;
    /// The next try has its time.
    RetryScheduled = "RETRY_SCHEDULED", retries 0;
    /// Whether a call changed the world has to be found out.
    IndeterminateEffect = "INDETERMINATE_EFFECT", retries 0;
    /// A person has to confirm what a verifier could not.
    ConfirmationRequired = "CONFIRMATION_REQUIRED", retries 0;
    /// What an earlier call changed is not as it was recorded.
    ConfirmationMismatch = "CONFIRMATION_MISMATCH", retries 0;
    /// Another job is performing the same action.
    ActionInProgress = "ACTION_IN_PROGRESS", retries 0;
    /// The job lost its worker too often without getting anywhere.
    AttemptsExhausted = "ATTEMPTS_EXHAUSTED", retries 0;
    /// What a job did could not be undone.
    CompensationFailed = "COMPENSATION_FAILED", retries 0;
    /// Evidence contradicts what was said about a call.
    ResolutionConflict = "RESOLUTION_CONFLICT", retries 0;
    /// The mode of the job forbids it.
    ModeForbids = "MODE_FORBIDS", retries 0;
    /// It depends on an output that a dry run did not make.
    DryRunUpstream = "DRY_RUN_UPSTREAM", retries 0;
    /// The job's code no longer does what its log says.
    Diverged = "DIVERGED", retries 0;
    /// The database is a restored or cloned one.
    Restored = "RESTORED", retries 0;
}

impl Code {
    /// Whether the host may try again by itself.
    pub fn is_retryable(self) -> bool {
        self.retries() > 0
    }
    /// Whether a guest may answer with it: the first ten.
    pub fn is_guest_code(self) -> bool {
        (self as usize) < 10
    }
    /// Whether the same code with the same input fails again: another round of it cannot help.
    pub fn fails_again(self) -> bool {
        matches!(
            self,
            Code::InvalidInput
                | Code::SchemaValidationFailed
                | Code::MissingRequiredContext
                | Code::ContractViolation
                | Code::PluginTrap
                | Code::PluginException
                | Code::OutOfFuel
                | Code::MemoryLimit
                | Code::StackOverflow
                | Code::OutputLimit
                | Code::ModeForbids
                | Code::DryRunUpstream
        )
    }
    /// The code a step plugin sees for it (§8): its own ten, the rest folded into two.
    pub fn for_guest(self) -> Code {
        match self {
            code if code.is_guest_code() => code,
            Code::GateRejected | Code::GateExpired | Code::ModeForbids | Code::BudgetExceeded => Code::PolicyDenied,
            _ => Code::DependencyUnavailable,
        }
    }
    /// The code named `text`, if there is one.
    pub fn parse(text: &str) -> Option<Code> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure as it is recorded and shown: a code, a sentence, and perhaps more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The reason code.
    pub code: Code,
    /// One sentence for a person.
    pub message: String,
    /// What the failing side said beyond that: JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long the failing side asks to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u32>,
}

/// The one key of the `detail` by which an SDK says that it refused what no plugin of its kind has.
pub const DENIED_BY_SDK: &str = "latchwork:denied";

impl Failure {
    /// Returns true if the plugin's SDK refused the operation. No grant allows it.
    pub fn is_denied_by_sdk(&self) -> bool {
        let is_marked = |detail: &str| {
            let value = serde_json::from_str::<serde_json::Value>(detail).unwrap_or_default();
            value.get(DENIED_BY_SDK).is_some()
        };
        self.code == Code::CapabilityDenied && self.detail.as_deref().is_some_and(is_marked)
    }

    /// A failure with a code and a sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, retry_after_ms: None }
    }
    /// The same failure as a step plugin sees it, the real code kept in `detail` (§8).
    pub fn for_guest(&self) -> Failure {
        let code = self.code.for_guest();
        if code == self.code {
            return self.clone();
        }
        let detail = serde_json::json!({ "code": self.code, "detail": self.detail }).to_string();
        Failure { code, message: self.message.clone(), detail: Some(detail), retry_after_ms: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_retry_table_is_the_documented_one() {
        let retryable: Vec<_> =
            Code::ALL.iter().filter(|c| c.is_retryable()).map(|c| (c.as_str(), c.retries())).collect();
        assert_eq!(
            retryable,
            [
                ("NETWORK_TIMEOUT", 3),
                ("RATE_LIMIT", 5),
                ("TEMPORARY_PROVIDER_ERROR", 3),
                ("TRANSIENT_DB_LOCK", 5),
                ("DEPENDENCY_UNAVAILABLE", 3),
                ("NETWORK_UNAVAILABLE", 3),
                ("WALL_CLOCK_LIMIT", 3),
            ]
        );
        assert_eq!(Code::ALL.iter().filter(|c| c.is_guest_code()).count(), 10);
    }

    #[test]
    fn a_step_sees_only_guest_codes() {
        for code in Code::ALL {
            assert!(code.for_guest().is_guest_code(), "{code}");
        }
        assert_eq!(Code::GateRejected.for_guest(), Code::PolicyDenied);
        assert_eq!(Code::InvocationLost.for_guest(), Code::DependencyUnavailable);
        let seen = Failure::new(Code::BudgetExceeded, "no money").for_guest();
        assert_eq!(seen.code, Code::PolicyDenied);
        assert!(seen.detail.unwrap().contains("BUDGET_EXCEEDED"));
    }
}
