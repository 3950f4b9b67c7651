//! What the outside world answered. Written before the event that mentions it.

use serde::{Deserialize, Serialize};

use crate::error::Failure;
use crate::ids::Slot;

/// What a call cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's own trace id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_trace_id: Option<String>,
    /// Tokens read.
    pub tokens_in: u32,
    /// Tokens written.
    pub tokens_out: u32,
    /// Millionths of a US dollar.
    pub cost_micro_usd: u32,
    /// Credits consumed.
    pub credits: u32,
}

impl Usage {
    /// Whether it says nothing of what was used: no tokens, no cost. Providers may leave that out.
    pub fn is_silent(&self) -> bool {
        (self.tokens_in, self.tokens_out, self.cost_micro_usd, self.credits) == (0, 0, 0, 0)
    }
}

/// What executing a try took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Fuel, instantiation not counted.
    pub fuel: u64,
    /// Milliseconds.
    pub wall_ms: u32,
}

/// The payload of a try whose answer left its call in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unusable {
    /// Why the answer could not be used.
    pub failure: Failure,
    /// The beginning of the answer, if one came.
    pub kept: Option<String>,
}

impl Unusable {
    /// Reads a payload. None if it is damaged.
    pub fn read(bytes: &[u8]) -> Option<Unusable> {
        serde_json::from_slice(bytes).ok()
    }

    /// The payload.
    pub fn to_bytes(&self) -> Vec<u8> {
        let value = serde_json::to_value(self).expect("texts and numbers are plain data");
        value.to_string().into_bytes()
    }
}

/// One change of one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// `message`, `file`, `record`.
    pub resource_type: String,
    /// Which one.
    pub resource_id: String,
    /// `create`, `update`, `delete`.
    pub operation: String,
    /// Its version after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its entity tag after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Where to look for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<String>,
}

/// How a result came to be known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The call was executed and answered.
    #[default]
    Executed,
    /// The answer was in the effect store when the job was resumed.
    CaughtUp,
    /// The tool was asked whether it had happened.
    Reconciled,
    /// The call was repeated under its recorded external key.
    KeyedRetry,
    /// A person said so.
    Operator,
    /// An earlier job's receipt.
    Reused,
}

impl Provenance {
    /// Whether it is the ordinary case.
    pub fn is_executed(&self) -> bool {
        *self == Provenance::Executed
    }
}

/// A tool's good answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// What the caller gets: JSON text, kept as received.
    pub result: String,
    /// Proof of the effect: JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// What changed in the world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state_changes: Vec<StateChange>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// How a try ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It worked.
    Ok(Output),
    /// It failed, and the world was certainly not changed.
    NotApplied(Failure),
    /// It failed, and nobody can tell whether the world was changed. `kept` is the start of
    /// an answer that was oversized or malformed, at most 64 KiB.
    Unknown {
        /// Why.
        failure: Failure,
        /// What is left of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
}

/// The recorded answer of one try of one invocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The invocation.
    pub slot: Slot,
    /// Which try.
    #[serde(rename = "try")]
    pub try_no: u32,
    /// What was answered.
    pub answer: Answer,
    /// How it came to be known.
    #[serde(default, skip_serializing_if = "Provenance::is_executed")]
    pub provenance: Provenance,
    /// When the answer was there, microseconds since 1970 UTC.
    pub time_us: i64,
    /// What it took; none where nothing was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

impl Effect {
    /// The bytes that are stored and hashed.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an effect is plain data")
    }

    /// Whether it tells whoever goes on with the job anything. That a repeat under its key changed
    /// nothing says nothing about the try that it repeats: kept as an answer, it would be asked about
    /// for ever.
    pub fn is_news(&self) -> bool {
        match self.answer {
            Answer::Ok(_) => true,
            Answer::NotApplied(_) => self.provenance != Provenance::KeyedRetry,
            Answer::Unknown { .. } => false,
        }
    }
}
