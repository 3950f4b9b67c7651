//! The records of an evidence file, as they stand in its lines.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effect::{Answer, Provenance};
use crate::ids::{Hash, Operator, Slot};
use crate::ledger::Row;
use crate::manifest::PluginKind;
use crate::storage::JobRow;

/// First line: whose evidence this is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`super::SCHEMA`].
    pub schema: String,
    /// The program that wrote it: `latchwork 0.1.0`.
    pub program: String,
    /// When it was written, microseconds since 1970 UTC.
    pub exported_us: i64,
    /// The job's row in the table of jobs: another witness than its events.
    pub job: JobRow,
    /// Digest of the engine profile the job was accepted with.
    pub engine_profile: Hash,
    /// The components the job can reach.
    pub plugins: Vec<PluginRecord>,
    /// Labels of payloads that were left out, sorted.
    pub withheld: Vec<String>,
    /// The public key that signs it, where it is signed: a signature cannot be cut off unnoticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
}

/// One component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginRecord {
    /// Its name in `latch.toml`.
    pub plugin: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the component.
    pub digest: Hash,
    /// Its world.
    pub kind: PluginKind,
    /// The operators the job pinned of it, sorted.
    pub operators: Vec<Operator>,
}

/// An event, as it was hashed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventRecord {
    pub(super) event: Value,
    pub(super) hash: Hash,
    pub(super) prev_hash: Hash,
}

/// Bytes that belong to a hash, or why they are not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// UTF-8 text.
    Text(String),
    /// Other bytes, in hexadecimal.
    Hex(String),
    /// The same bytes as another label has; of an `answer/…` it is the result in it.
    SameAs(String),
    /// Left out when the file was written, with the salt.
    Withheld,
    /// The stores do not keep it: the hash alone was recorded.
    NotKept,
}

/// A payload, from its own table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayloadRecord {
    /// Unique within the job.
    pub label: String,
    /// `SHA-256(salt ‖ bytes)`.
    pub hash: Hash,
    /// Length in bytes.
    pub len: u32,
    /// `SHA-256(secret ‖ 0 ‖ label)`; not there where the content is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Hash>,
    /// The bytes.
    pub content: Content,
}

/// What kind of answer an effect holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It worked.
    Ok,
    /// It failed, and the world was certainly not changed.
    NotApplied,
    /// It failed, and nobody can tell.
    Unknown,
}

impl From<&Answer> for Kind {
    fn from(answer: &Answer) -> Kind {
        match answer {
            Answer::Ok(_) => Kind::Ok,
            Answer::NotApplied(_) => Kind::NotApplied,
            Answer::Unknown { .. } => Kind::Unknown,
        }
    }
}

/// An effect, from its own table. Its label is `answer/<slot>/<try>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectRecord {
    /// The invocation.
    pub slot: Slot,
    /// Which try.
    #[serde(rename = "try")]
    pub try_no: u32,
    /// What kind of answer it is; shown also where the answer is withheld.
    pub kind: Kind,
    /// How it came to be known.
    pub provenance: Provenance,
    /// When the answer was there, microseconds since 1970 UTC.
    pub time_us: i64,
    /// `SHA-256(salt ‖ bytes)`.
    pub hash: Hash,
    /// Length in bytes.
    pub len: u32,
    /// `SHA-256(secret ‖ 0 ‖ label)`; not there where the content is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Hash>,
    /// The bytes.
    pub content: Content,
}

/// The job's response, without what may be withheld and what depends on where it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseRecord {
    pub(super) response: Value,
}

/// Last line: the hash of all bytes before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trailer {
    pub(super) sha256: Hash,
}

/// The signature of all bytes before it, behind the trailer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignatureRecord {
    pub(super) algorithm: String,
    pub(super) public_key: String,
    pub(super) signature: String,
}

/// A ledger row as fields of a line. The nonce has 64 bits, more than a number of JSON can hold:
/// it is written as 16 hexadecimal digits.
pub(super) fn from_row(row: &Row) -> Value {
    let mut value = serde_json::to_value(row).expect("a row is plain data");
    value["nonce"] = format!("{:016x}", row.nonce).into();
    value
}

/// The row of a line.
pub(super) fn to_row(mut value: Value) -> Result<Row, String> {
    let nonce = value.get("nonce").and_then(Value::as_str).filter(|text| text.len() == 16);
    let nonce = nonce.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or("its nonce is not 16 digits")?;
    value["nonce"] = nonce.into();
    serde_json::from_value(value).map_err(|error| error.to_string())
}
