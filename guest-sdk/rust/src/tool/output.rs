//! The answer of a tool.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::bindings::types;
use crate::{Error, schema};

/// A result with the facts that the host records with it.
///
/// ```
/// use latchwork_guest::tool::{Change, Output};
///
/// let sent = Output::new("sent")
///     .receipt(serde_json::json!({ "message_id": "<1@example.org>" }))
///     .change(Change::new("message", "<1@example.org>", "create").external_ref("outbox/new/1"));
/// # let _ = sent;
/// ```
#[derive(Clone, Debug)]
pub struct Output<R> {
    result: R,
    receipt: Option<Value>,
    changes: Vec<Change>,
    usage: Option<Usage>,
}

impl<R> Output<R> {
    /// Creates an output with the result for the caller.
    pub fn new(result: R) -> Self {
        Self { result, receipt: None, changes: Vec::new(), usage: None }
    }
    /// Sets the proof of the effect. Later requests for the same action get this receipt instead of a second
    /// execution.
    #[must_use]
    pub fn receipt(mut self, receipt: Value) -> Self {
        self.receipt = Some(receipt);
        self
    }
    /// Adds a change in the world. May be called several times.
    #[must_use]
    pub fn change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
    /// Sets the cost of the call.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
    /// Returns the result, for tests.
    pub fn result(&self) -> &R {
        &self.result
    }
    /// Returns the changes, for tests.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

impl<R: Serialize> Output<R> {
    pub(crate) fn into_wit(self, operator: &str) -> Result<types::ToolOutput, Error> {
        Ok(types::ToolOutput {
            result: schema::to_json(operator, &self.result)?,
            receipt: self.receipt.map(|receipt| receipt.to_string()),
            state_changes: self.changes.into_iter().map(Into::into).collect(),
            usage: self.usage.map(Into::into),
        })
    }
}

/// A change in the world. Must identify the resource precisely enough for a later check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Type of the resource: `message`.
    pub resource_type: String,
    /// Id of the resource within its type.
    pub resource_id: String,
    /// Operation on the resource: `create`, `update`, `delete`.
    pub operation: String,
    /// Version of the resource after the change.
    pub version: Option<String>,
    /// Entity tag of the resource after the change.
    pub etag: Option<String>,
    /// Location of the resource, such as a path or URL.
    pub external_ref: Option<String>,
}

impl Change {
    /// Creates a change of one resource. The other fields are `None`.
    pub fn new(resource_type: &str, resource_id: impl Into<String>, operation: &str) -> Self {
        Self {
            resource_type: resource_type.to_owned(),
            resource_id: resource_id.into(),
            operation: operation.to_owned(),
            ..Self::default()
        }
    }
    /// Sets the version of the resource after the change.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }
    /// Sets the entity tag of the resource after the change.
    #[must_use]
    pub fn etag(mut self, etag: impl Into<String>) -> Self {
        self.etag = Some(etag.into());
        self
    }
    /// Sets the location of the resource.
    #[must_use]
    pub fn external_ref(mut self, place: impl Into<String>) -> Self {
        self.external_ref = Some(place.into());
        self
    }
}

/// Cost of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Model that answered.
    pub model: Option<String>,
    /// Trace id of the provider, for support requests.
    pub provider_trace_id: Option<String>,
    /// Number of input tokens.
    pub tokens_in: u32,
    /// Number of output tokens.
    pub tokens_out: u32,
    /// Cost in millionths of a US dollar.
    pub cost_micro_usd: u32,
    /// Cost in the provider's own units.
    pub credits: u32,
}

/// Answer to the question whether a call in doubt happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<O> {
    /// The call happened, with this output: the same result, receipt and changes as those of the call itself.
    Happened(O),
    /// The call did not happen and never will. The host may then execute it.
    DidNotHappen,
    /// The outcome is not known yet. The host asks again after this time.
    NotYet(Duration),
    /// The outcome cannot be determined.
    Unknown,
}

/// Result of checking a recorded change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The resource is in the recorded state.
    Confirmed,
    /// The resource is in a different state, described by this text.
    Mismatch(String),
}

impl Finding {
    /// Compares a recorded version or entity tag with the version or entity tag found. Returns [`Finding::Confirmed`]
    /// if they are equal or nothing was recorded.
    pub fn compare(recorded: Option<&str>, found: &str) -> Finding {
        match recorded {
            Some(recorded) if recorded != found => {
                Finding::Mismatch(format!("found {found:?}, recorded was {recorded:?}"))
            }
            _ => Finding::Confirmed,
        }
    }
}

macro_rules! same_fields {
    ($own:ident = $wit:ident { $($field:ident),* }) => {
        impl From<$own> for types::$wit {
            fn from(own: $own) -> Self {
                Self { $($field: own.$field),* }
            }
        }
        impl From<types::$wit> for $own {
            fn from(wit: types::$wit) -> Self {
                Self { $($field: wit.$field),* }
            }
        }
    };
}
same_fields!(Change = StateChange { resource_type, resource_id, operation, version, etag, external_ref });
same_fields!(Usage = Usage { model, provider_trace_id, tokens_in, tokens_out, cost_micro_usd, credits });
