//! The records of an evidence file, one per line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::RequestRef;
use crate::model::effect::{Answer, Provenance};
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::model::manifest::PluginKind;
use crate::rules::ledger::LedgerRow;
use crate::storage::JobRow;

/// First line of the file: the job and the export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceHeader {
    /// One of [`super::SCHEMAS`].
    pub schema: String,
    /// Program that wrote the file, such as `latchwork 0.1.0`.
    pub program: String,
    /// Time of the export, microseconds since 1970 UTC.
    pub exported_us: i64,
    /// The job's row in the table of jobs. The row is checked against the events.
    pub job: JobRecord,
    /// Digest of the engine profile with which the job was accepted.
    pub engine_profile: Hash,
    /// Components that the job can reach.
    pub plugins: Vec<PluginRecord>,
    /// Labels of the withheld payloads, sorted.
    pub withheld: Vec<String>,
    /// Public key of the signer, if the file is signed. Because the header names the key, removal of the signature is
    /// detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
}

/// The job's row in the table of jobs. The reference to the request replaces the request key of the table, as in the
/// first event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the other fields are those of `JobRow`")]
pub struct JobRecord {
    pub job_id: JobId,
    pub tenant_id: String,
    pub actor_id: String,
    /// Reference to the identity of the request.
    #[serde(flatten)]
    pub request: RequestRef,
    pub plan_id: String,
    pub plan_hash: Hash,
    pub mode: String,
    pub state: JobState,
    pub attempt: u32,
    pub next_seq: u64,
    pub head: Hash,
    pub inbox_pending: bool,
    pub cancel_requested: bool,
    pub wake_at_us: Option<i64>,
    pub priority: i16,
    pub created_us: i64,
    pub updated_us: i64,
}

impl JobRecord {
    pub(super) fn new(row: &JobRow, request: RequestRef) -> Self {
        let row = row.clone();
        Self {
            job_id: row.job_id,
            tenant_id: row.tenant_id,
            actor_id: row.actor_id,
            request,
            plan_id: row.plan_id,
            plan_hash: row.plan_hash,
            mode: row.mode,
            state: row.state,
            attempt: row.attempt,
            next_seq: row.next_seq,
            head: row.head,
            inbox_pending: row.inbox_pending,
            cancel_requested: row.cancel_requested,
            wake_at_us: row.wake_at_us,
            priority: row.priority,
            created_us: row.created_us,
            updated_us: row.updated_us,
        }
    }
}

/// A component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginRecord {
    /// Name of the plugin in `latch.toml`.
    pub plugin: String,
    /// Version of the plugin.
    pub version: String,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// WIT world of the component.
    pub kind: PluginKind,
    /// Operators of this component that the job pinned, sorted.
    pub operators: Vec<Operator>,
}

/// An event line: the event as it was hashed, its hash, and the hash of the previous event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventRecord {
    pub(super) event: Value,
    pub(super) hash: Hash,
    pub(super) prev_hash: Hash,
}

/// Bytes of a hashed content, or the reason why they are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// UTF-8 text.
    Text(String),
    /// Other bytes, in hexadecimal.
    Hex(String),
    /// The bytes are stored under this other label. If the label begins with `answer/`, the bytes are the result in the
    /// answer.
    SameAs(String),
    /// The bytes and their salt were withheld when the file was written.
    Withheld,
    /// The stores did not keep the bytes. Only their hash was recorded.
    NotKept,
}

/// A payload from the payload table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayloadRecord {
    /// Label of the payload, unique within the job.
    pub label: String,
    /// `SHA-256(salt ‖ bytes)`.
    pub hash: Hash,
    /// Length in bytes.
    pub len: u32,
    /// `SHA-256(secret ‖ 0 ‖ label)`. Missing if the content is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Hash>,
    /// Content of the payload.
    pub content: Content,
}

/// Kind of the answer in an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The call succeeded.
    Ok,
    /// The call failed and certainly did not change the world.
    NotApplied,
    /// The call failed, and it is unknown whether it changed the world.
    Unknown,
}

impl From<&Answer> for AnswerKind {
    fn from(answer: &Answer) -> AnswerKind {
        match answer {
            Answer::Ok(_) => AnswerKind::Ok,
            Answer::NotApplied(_) => AnswerKind::NotApplied,
            Answer::Unknown { .. } => AnswerKind::Unknown,
        }
    }
}

/// An effect from the effect table. Its label is `answer/<slot>/<try>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectRecord {
    /// Slot of the call.
    pub slot: Slot,
    /// Number of the try.
    #[serde(rename = "try")]
    pub try_no: u32,
    /// Kind of the answer. Present even if the answer is withheld.
    pub kind: AnswerKind,
    /// Provenance of the answer.
    pub provenance: Provenance,
    /// Time of the answer, microseconds since 1970 UTC.
    pub time_us: i64,
    /// `SHA-256(salt ‖ bytes)`.
    pub hash: Hash,
    /// Length in bytes.
    pub len: u32,
    /// `SHA-256(secret ‖ 0 ‖ label)`. Missing if the content is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Hash>,
    /// Content of the effect.
    pub content: Content,
}

/// The job's response. It lacks the parts that may be withheld, and the parts that depend on the place of the export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseRecord {
    pub(super) response: Value,
}

/// Trailer line: the hash of all bytes before the line. Only a signature may follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trailer {
    pub(super) sha256: Hash,
}

/// Signature line after the trailer. The signature covers all bytes before the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignatureRecord {
    pub(super) algorithm: String,
    pub(super) public_key: String,
    pub(super) signature: String,
}

/// Converts a ledger row to the fields of a line. The nonce is written as 16 hexadecimal digits, because JSON numbers
/// do not represent every 64-bit number exactly.
pub(super) fn from_row(row: &LedgerRow) -> Value {
    let mut value = serde_json::to_value(row).expect("a row is plain data");
    value["nonce"] = format!("{:016x}", row.nonce).into();
    value
}

/// Converts the fields of a line to a ledger row.
pub(super) fn to_row(mut value: Value) -> Result<LedgerRow, String> {
    let nonce = value.get("nonce").and_then(Value::as_str).filter(|text| text.len() == 16);
    let nonce = nonce.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or("its nonce is not 16 digits")?;
    value["nonce"] = nonce.into();
    serde_json::from_value(value).map_err(|error| error.to_string())
}
