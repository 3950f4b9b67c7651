//! Effects: the stored answers of tools. An effect is written before the event that mentions it.

use serde::{Deserialize, Serialize};

use crate::model::error::Failure;
use crate::model::ids::Slot;

/// Resources that a call used, as its tool or model reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Name of the model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Trace id of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_trace_id: Option<String>,
    /// Number of input tokens.
    pub tokens_in: u32,
    /// Number of output tokens.
    pub tokens_out: u32,
    /// Cost in millionths of a US dollar.
    pub cost_micro_usd: u32,
    /// Number of credits consumed.
    pub credits: u32,
}

impl Usage {
    /// Returns true if all numbers are zero. This is the case if the provider reports no numbers.
    pub fn is_empty(&self) -> bool {
        (self.tokens_in, self.tokens_out, self.cost_micro_usd, self.credits) == (0, 0, 0, 0)
    }
}

/// Fuel and time that one try used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consumption {
    /// Fuel used, without the fuel for instantiating the component.
    pub fuel: u64,
    /// Wall-clock time in milliseconds.
    pub wall_ms: u32,
}

/// Payload stored for a try whose answer could not be used. The try left its call in doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusableAnswer {
    /// Reason why the answer could not be used.
    pub failure: Failure,
    /// The beginning of the received answer. `None` if no answer arrived.
    pub kept: Option<String>,
}

impl UnusableAnswer {
    /// Parses the payload. Returns `None` if the bytes are damaged.
    pub fn parse(bytes: &[u8]) -> Option<UnusableAnswer> {
        serde_json::from_slice(bytes).ok()
    }

    /// Serializes the payload.
    pub fn to_bytes(&self) -> Vec<u8> {
        let value = serde_json::to_value(self).expect("texts and numbers are plain data");
        value.to_string().into_bytes()
    }
}

/// One change of one resource in the outside world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// Type of the resource: `message`, `file` or `record`.
    pub resource_type: String,
    /// Id of the resource.
    pub resource_id: String,
    /// Kind of the change: `create`, `update` or `delete`.
    pub operation: String,
    /// Version of the resource after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Entity tag of the resource after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Location of the resource in the outside system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<String>,
}

/// The way in which the host learned the result of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The call was executed and answered.
    #[default]
    Executed,
    /// The answer was found in the effect store when the job was resumed.
    CaughtUp,
    /// After the call, the host asked the tool whether the call had happened.
    Reconciled,
    /// The call was repeated under its recorded external key.
    KeyedRetry,
    /// A person decided the result.
    #[serde(rename = "operator")]
    PersonDecision,
    /// The result is the receipt of an earlier job.
    Reused,
}

impl Provenance {
    /// Returns true for `Executed`, the default.
    pub fn is_executed(&self) -> bool {
        *self == Provenance::Executed
    }
}

/// Successful answer of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Result for the caller: JSON text, kept as received.
    pub result: String,
    /// Proof of the effect: JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// Changes in the outside world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state_changes: Vec<StateChange>,
    /// Reported use of tokens, money and credits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Answer of one try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The try succeeded.
    Ok(Output),
    /// The try failed and certainly did not change the world.
    NotApplied(Failure),
    /// The try failed, and it is unknown whether it changed the world.
    Unknown {
        /// Failure that ended the try.
        failure: Failure,
        /// Start of an oversized or malformed answer, at most 64 KiB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
}

/// Recorded answer of one try of an invocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Slot of the invocation.
    pub slot: Slot,
    /// Number of the try, from 1. The number is 0 if the call was answered without a try, by a refusal or a receipt.
    #[serde(rename = "try")]
    pub try_no: u32,
    /// Answer of the try.
    pub answer: Answer,
    /// The way in which the host learned the answer.
    #[serde(default, skip_serializing_if = "Provenance::is_executed")]
    pub provenance: Provenance,
    /// Time at which the answer arrived, microseconds since 1970 UTC.
    pub time_us: i64,
    /// Fuel and time used. `None` if no code was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Consumption>,
}

impl Effect {
    /// Serializes the effect into the bytes that are stored and hashed.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an effect is plain data")
    }

    /// Returns true if the effect helps the lease holder to decide the call. An unknown answer does not help. A "not
    /// applied" answer to a keyed retry does not help either, because it proves nothing about the original try. If such
    /// an answer counted, the host would ask the tool about the original try forever.
    pub fn is_informative(&self) -> bool {
        match self.answer {
            Answer::Ok(_) => true,
            Answer::NotApplied(_) => self.provenance != Provenance::KeyedRetry,
            Answer::Unknown { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Provenance;

    /// The names are part of events, effects and evidence files.
    #[test]
    fn names_of_provenances_are_pinned() {
        let all = [
            Provenance::Executed,
            Provenance::CaughtUp,
            Provenance::Reconciled,
            Provenance::KeyedRetry,
            Provenance::PersonDecision,
            Provenance::Reused,
        ];
        let names = serde_json::to_string(&all).unwrap();
        assert_eq!(names, r#"["executed","caught_up","reconciled","keyed_retry","operator","reused"]"#);
    }
}
