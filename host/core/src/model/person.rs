//! People: the names under which they decide, and the signatures that verify these names.
//!
//! A name alone is *claimed*: everyone who can write to the database can decide under any name. A signature makes the
//! name *verified*. The caller computes and checks signatures, so this crate needs no implementation of Ed25519.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::encoding::canon;
use crate::model::ids::{Hash, JobId, Slot};

/// Length of an Ed25519 signature in bytes.
pub const SIGNATURE_BYTES: usize = 64;

/// First bytes of every signed decision. They name the purpose, so that the signature is valid for no other purpose.
const PURPOSE: &[u8] = b"latchwork.decision/1 signature\0";

/// An Ed25519 public key, written as `ed25519:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// Parses `ed25519:` and 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let key = Self(Hash::from_hex(text.strip_prefix("ed25519:")?)?.0);
        (key.to_string() == text).then_some(key)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ed25519:{}", Hash(self.0))
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not a public key")))
    }
}

/// An Ed25519 signature, written as 128 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(pub [u8; SIGNATURE_BYTES]);

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = hex::decode(&text).ok().filter(|bytes| hex::encode(bytes) == text);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("a signature has 128 hexadecimal digits"))
    }
}

/// Assurance of a person's name, in increasing order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// The name is stated without a proof.
    #[default]
    Claimed,
    /// The decision is signed by a key of the person.
    Signature,
}

impl Assurance {
    /// All values with their names in configurations, weakest first.
    pub const NAMES: [(&'static str, Assurance); 2] =
        [("claimed", Assurance::Claimed), ("signature", Assurance::Signature)];

    /// Returns true if the name need not be verified. This is the default, so documents omit it.
    pub fn is_claimed(&self) -> bool {
        *self == Assurance::Claimed
    }
}

/// Proof that a person made a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Verification {
    /// Signature of the person's [`Statement`].
    Signature {
        /// Key that signed.
        key: PublicKey,
        /// Signature of [`Statement::message`].
        signature: Signature,
    },
}

impl Verification {
    /// Returns the assurance that the proof gives.
    pub fn assurance(&self) -> Assurance {
        match self {
            Verification::Signature { .. } => Assurance::Signature,
        }
    }

    /// Returns the key that signed.
    pub fn key(&self) -> PublicKey {
        match self {
            Verification::Signature { key, .. } => *key,
        }
    }
}

/// People and the keys that verify their names. No key belongs to two people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People(BTreeMap<String, BTreeSet<PublicKey>>);

impl People {
    /// Adds a key of a person. Returns the other person who has the key, if there is one.
    pub fn add(&mut self, name: &str, key: PublicKey) -> Option<String> {
        if let Some(owner) = self.owner(&key).filter(|owner| *owner != name) {
            return Some(owner.to_owned());
        }
        self.0.entry(name.to_owned()).or_default().insert(key);
        None
    }

    /// Returns the person who has this key.
    pub fn owner(&self, key: &PublicKey) -> Option<&str> {
        self.0.iter().find(|(_, keys)| keys.contains(key)).map(|(name, _)| name.as_str())
    }
}

/// Statement that a person signs: the decision, together with its tenant, job, person, reason and gate. A signature is
/// therefore valid only for this decision of this person in this job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement<'a> {
    /// Tenant of the job.
    pub tenant_id: &'a str,
    /// Id of the job.
    pub job_id: &'a JobId,
    /// Name of the person.
    pub actor: &'a str,
    /// Reason for the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision<'a>,
}

/// Decision that a person can sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision<'a> {
    /// Approves the call of a gate.
    Approve(GateSubject<'a>),
    /// Rejects the call of a gate.
    Reject(GateSubject<'a>),
}

/// The gate that a decision is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateSubject<'a> {
    /// Slot of the gated call.
    pub slot: &'a Slot,
    /// Hash over operator, digest, slot, arguments and mode of the call.
    pub gate_hash: Hash,
    /// Sequence number of the event that requested the gate. Because of this number, the signature does not count again
    /// if the same call needs another approval later.
    pub gate_seq: u64,
}

impl Statement<'_> {
    /// Returns the bytes to sign: the purpose, and the statement as canonical JSON.
    pub fn message(&self) -> Vec<u8> {
        [PURPOSE, &canon::data_to_canonical(self)].concat()
    }
}
