//! What a tool answers.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::bindings::types;
use crate::{Error, schema};

/// A result, and what the host should keep with it.
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
    /// What the caller gets.
    pub fn new(result: R) -> Self {
        Self { result, receipt: None, changes: Vec::new(), usage: None }
    }
    /// Proof of the effect: given to whoever asks for the same action again.
    #[must_use]
    pub fn receipt(mut self, receipt: Value) -> Self {
        self.receipt = Some(receipt);
        self
    }
    /// One change in the world; several calls add up.
    #[must_use]
    pub fn change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
    /// What it cost.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
    /// What the caller gets, for tests.
    pub fn result(&self) -> &R {
        &self.result
    }
    /// The changes, for tests.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

impl<R: Serialize> Output<R> {
    pub(crate) fn into_wit(self, operator: &str) -> Result<types::ToolOutput, Error> {
        Ok(types::ToolOutput {
            result: schema::write(operator, &self.result)?,
            receipt: self.receipt.map(|receipt| receipt.to_string()),
            state_changes: self.changes.into_iter().map(Into::into).collect(),
            usage: self.usage.map(Into::into),
        })
    }
}

/// One change in the world, precise enough to look it up again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// What kind of thing: `message`.
    pub resource_type: String,
    /// Which one.
    pub resource_id: String,
    /// What was done to it: `create`, `update`, `delete`.
    pub operation: String,
    /// Its version afterwards.
    pub version: Option<String>,
    /// Its entity tag afterwards.
    pub etag: Option<String>,
    /// Where it is.
    pub external_ref: Option<String>,
}

impl Change {
    /// A change of one thing.
    pub fn new(resource_type: &str, resource_id: impl Into<String>, operation: &str) -> Self {
        Self {
            resource_type: resource_type.to_owned(),
            resource_id: resource_id.into(),
            operation: operation.to_owned(),
            ..Self::default()
        }
    }
    /// Its version afterwards.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }
    /// Its entity tag afterwards.
    #[must_use]
    pub fn etag(mut self, etag: impl Into<String>) -> Self {
        self.etag = Some(etag.into());
        self
    }
    /// Where it is.
    #[must_use]
    pub fn external_ref(mut self, place: impl Into<String>) -> Self {
        self.external_ref = Some(place.into());
        self
    }
}

/// What a call cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The model that answered.
    pub model: Option<String>,
    /// The provider's own trace id, for support requests.
    pub provider_trace_id: Option<String>,
    /// Tokens read.
    pub tokens_in: u32,
    /// Tokens written.
    pub tokens_out: u32,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u32,
    /// The provider's own units.
    pub credits: u32,
}

/// Whether a call in doubt happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<O> {
    /// It did, with this output.
    Happened(O),
    /// It certainly did not and never will.
    DidNotHappen,
    /// Ask again after so long.
    NotYet(Duration),
    /// It cannot be told.
    Unknown,
}

/// Whether a recorded change is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// As recorded.
    Confirmed,
    /// Not as recorded: what was found instead.
    Mismatch(String),
}

impl Finding {
    /// What is there, beside what was recorded of it (a version, an entity tag). Where nothing was
    /// recorded there is nothing to differ from.
    pub fn compare(recorded: Option<&str>, found: &str) -> Finding {
        match recorded {
            Some(recorded) if recorded != found => {
                Finding::Mismatch(format!("it is {found:?}, recorded was {recorded:?}"))
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
