//! Reason codes. WIT, events, HTTP and CLI use the same names.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::encoding::canon::CanonError;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, retries $retries:expr;)*) => {
        /// Reason why a step, a call or a job did not succeed, or why it waits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }
        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];
            /// Returns the name used in events, HTTP and CLI, such as `RATE_LIMIT`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }
            /// Returns the default number of retries after the first try. The number is 0 for final codes.
            pub fn retries(self) -> u32 {
                match self { $(Code::$name => $retries),* }
            }
        }
    };
}

codes! {
    /// The outside system did not answer in time.
    NetworkTimeout = "NETWORK_TIMEOUT", retries 3;
    /// The outside system limits the rate of calls.
    RateLimit = "RATE_LIMIT", retries 5;
    /// A provider had a temporary failure.
    TemporaryProviderError = "TEMPORARY_PROVIDER_ERROR", retries 3;
    /// A database was temporarily locked.
    TransientDbLock = "TRANSIENT_DB_LOCK", retries 5;
    /// A dependency of the tool is unavailable.
    DependencyUnavailable = "DEPENDENCY_UNAVAILABLE", retries 3;
    /// A policy, a gate or a grant forbids the call.
    PolicyDenied = "POLICY_DENIED", retries 0;
    /// The input does not match what the operator accepts.
    InvalidInput = "INVALID_INPUT", retries 0;
    /// A value does not match its schema.
    SchemaValidationFailed = "SCHEMA_VALIDATION_FAILED", retries 0;
    /// The context names something that does not exist.
    MissingRequiredContext = "MISSING_REQUIRED_CONTEXT", retries 0;
    /// The outside system refused the credentials.
    AuthForbidden = "AUTH_FORBIDDEN", retries 0;
    /// A step plugin violates the determinism contract.
    ContractViolation = "CONTRACT_VIOLATION", retries 0;
    /// The plugin trapped.
    PluginTrap = "PLUGIN_TRAP", retries 0;
    /// The operator's code raised an exception that it does not handle.
    PluginException = "PLUGIN_EXCEPTION", retries 0;
    /// The plugin needs something that it is not granted.
    CapabilityDenied = "CAPABILITY_DENIED", retries 0;
    /// The grant of the plugin does not state a method, a path, a secret or an effect that the plugin needs.
    GrantRequired = "GRANT_REQUIRED", retries 0;
    /// A granted network address cannot be reached from this machine.
    NetworkUnavailable = "NETWORK_UNAVAILABLE", retries 3;
    /// The plugin used up its fuel.
    OutOfFuel = "OUT_OF_FUEL", retries 0;
    /// The plugin requested more memory than its limit.
    MemoryLimit = "MEMORY_LIMIT", retries 0;
    /// The plugin recursed too deeply.
    StackOverflow = "STACK_OVERFLOW", retries 0;
    /// The plugin ran longer than its time limit. A busy machine may be the cause. Therefore the host retries steps,
    /// and calls that certainly changed nothing (§8).
    WallClockLimit = "WALL_CLOCK_LIMIT", retries 3;
    /// The machine lacks memory, descriptors or other resources that the plugin may use. The host retries steps, and
    /// calls that certainly changed nothing. A step that fails again waits for a person.
    MachineFault = "MACHINE_FAULT", retries 3;
    /// The plugin's answer is larger than its limit.
    OutputLimit = "OUTPUT_LIMIT", retries 0;
    /// A wait step received no signal in time.
    WaitTimedOut = "WAIT_TIMED_OUT", retries 0;
    /// An approver rejected the gate.
    GateRejected = "GATE_REJECTED", retries 0;
    /// The gate expired without a decision.
    GateExpired = "GATE_EXPIRED", retries 0;
    /// The budget does not cover the call.
    BudgetExceeded = "BUDGET_EXCEEDED", retries 0;
    /// The call was resolved as lost. It will never be known whether the call happened.
    InvocationLost = "INVOCATION_LOST", retries 0;
    /// The job was cancelled.
    Cancelled = "CANCELLED", retries 0;
    /// A defect of the host.
    Internal = "INTERNAL", retries 0;
    /// A person must approve the exact call.
    RequiresApproval = "REQUIRES_APPROVAL", retries 0;
    /// A wait step waits for its signal.
    RequiresSignal = "REQUIRES_SIGNAL", retries 0;
    /// A timer is running.
    WaitingTimer = "WAITING_TIMER", retries 0;
    /// The next try is scheduled.
    RetryScheduled = "RETRY_SCHEDULED", retries 0;
    /// The call is in doubt: it may or may not have changed the world.
    IndeterminateEffect = "INDETERMINATE_EFFECT", retries 0;
    /// A person must confirm a change that the verifier could not confirm.
    ConfirmationRequired = "CONFIRMATION_REQUIRED", retries 0;
    /// A change that an earlier call made no longer matches its record.
    ConfirmationMismatch = "CONFIRMATION_MISMATCH", retries 0;
    /// Another slot or job is performing the same action.
    ActionInProgress = "ACTION_IN_PROGRESS", retries 0;
    /// The job lost its worker too many times in a row without recorded progress.
    AttemptsExhausted = "ATTEMPTS_EXHAUSTED", retries 0;
    /// A call of the job could not be undone.
    CompensationFailed = "COMPENSATION_FAILED", retries 0;
    /// New evidence contradicts the resolution of a call.
    ResolutionConflict = "RESOLUTION_CONFLICT", retries 0;
    /// The mode of the job forbids the call.
    ModeForbids = "MODE_FORBIDS", retries 0;
    /// The step depends on an output that the dry run did not produce.
    DryRunUpstream = "DRY_RUN_UPSTREAM", retries 0;
    /// The code of a step no longer does what the log records.
    Diverged = "DIVERGED", retries 0;
    /// The database was restored from a backup or cloned, and an administrator has not accepted it.
    Restored = "RESTORED", retries 0;
}

impl Code {
    /// Returns true if the code says that a limit of the machine ended the plugin: time, native stack, or a lack of
    /// resources. On another machine, the same component may end differently for the same input.
    pub fn is_of_machine(self) -> bool {
        matches!(self, Code::WallClockLimit | Code::StackOverflow | Code::MachineFault)
    }
    /// Returns true if the host may retry a failure with this code without a person's decision.
    pub fn is_retryable(self) -> bool {
        self.retries() > 0
    }
    /// Returns true if a guest may answer with this code. These are the first ten codes.
    pub fn is_guest_code(self) -> bool {
        (self as usize) < 10
    }
    /// Returns true if a step that failed with this code would fail with the same code again for the same input.
    /// Retrying the job then cannot help.
    pub fn fails_deterministically(self) -> bool {
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
    /// Returns the code that a step plugin receives (§8): one of the ten guest codes unchanged, or `POLICY_DENIED` or
    /// `DEPENDENCY_UNAVAILABLE` for any other code.
    pub fn for_guest(self) -> Code {
        match self {
            code if code.is_guest_code() => code,
            Code::GateRejected | Code::GateExpired | Code::ModeForbids | Code::BudgetExceeded => Code::PolicyDenied,
            _ => Code::DependencyUnavailable,
        }
    }
    /// Returns the code named `text`, if there is one.
    pub fn parse(text: &str) -> Option<Code> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure as it is recorded and displayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The reason code.
    pub code: Code,
    /// Human-readable message of one sentence.
    pub message: String,
    /// Further details from the component or system that failed, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Minimum wait before a retry, in milliseconds, if the failing system requested a wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u32>,
}

/// Mark of a failure that the plugin's SDK caused by refusing an operation. The mark is the only key of the JSON object
/// in `detail`. The SDK refuses operations that are forbidden to all plugins of the same kind (step or tool).
pub const DENIED_BY_SDK: &str = "latchwork:denied";

impl Failure {
    /// Returns true if the plugin's SDK refused the operation. A grant cannot allow such an operation.
    pub fn is_denied_by_sdk(&self) -> bool {
        let is_marked = |detail: &str| {
            let value = serde_json::from_str::<serde_json::Value>(detail).unwrap_or_default();
            value.get(DENIED_BY_SDK).is_some()
        };
        self.code == Code::CapabilityDenied && self.detail.as_deref().is_some_and(is_marked)
    }

    /// Creates a failure without detail.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, retry_after_ms: None }
    }
    /// Returns the failure as a step plugin receives it. If [`Code::for_guest`] changes the code, `detail`
    /// contains the original code (§8).
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

impl From<CanonError> for Failure {
    fn from(error: CanonError) -> Self {
        Failure::new(Code::InvalidInput, format!("no canonical JSON: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I174.
    #[test]
    fn retry_counts_match_documentation() {
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
                ("MACHINE_FAULT", 3),
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
