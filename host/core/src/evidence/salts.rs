//! Hashes payloads with salts. The salts are derived from the job's secret, or read from an evidence file if the
//! secret is unknown.

use std::collections::BTreeMap;

use crate::model::ids::Hash;
use crate::model::keys;
use crate::model::payload::PayloadRef;

/// Source of the salts of a job's payloads.
#[derive(Clone, Debug)]
pub enum Salts {
    /// The job's secret, from which every salt is derived.
    Secret(Hash),
    /// The salts in an evidence file, by label.
    Labels(BTreeMap<String, Hash>),
}

impl Salts {
    /// Returns the salted hash of a payload, or `None` if its salt is withheld.
    pub fn payload_ref(&self, label: &str, bytes: &[u8]) -> Option<PayloadRef> {
        match self {
            Salts::Secret(secret) => Some(keys::payload_ref(secret, label, bytes)),
            Salts::Labels(salts) => keys::payload_ref_from_salt(salts.get(label)?, bytes),
        }
    }
}
