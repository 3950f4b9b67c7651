//! Hashing payloads: by the job's secret where it is known, by single salts where it is not.

use std::collections::BTreeMap;

use crate::event::PayloadRef;
use crate::ids::Hash;
use crate::keys;

/// Where the salts of a job's payloads come from.
#[derive(Clone, Debug)]
pub enum Salts {
    /// The job's secret: every salt derives from it.
    Secret(Hash),
    /// The salts that an evidence file shows, by label.
    Labels(BTreeMap<String, Hash>),
}

impl Salts {
    /// The salted hash of a payload; none where its salt is withheld.
    pub fn payload_ref(&self, label: &str, bytes: &[u8]) -> Option<PayloadRef> {
        match self {
            Salts::Secret(secret) => Some(keys::payload_ref(secret, label, bytes)),
            Salts::Labels(salts) => keys::salted_ref(salts.get(label)?, bytes),
        }
    }
}
