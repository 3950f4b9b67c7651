//! The simulated world and its witness. The witness records the requests that arrived, by external key. It has no
//! access to logs and ledgers.

pub(crate) mod operators;
pub(crate) mod people;
pub(crate) mod tools;

use std::collections::BTreeMap;

use latchwork_core::model::manifest::RecoveryClass;

/// Requests that arrived under one external key.
#[derive(Clone, Debug)]
pub(crate) struct ArrivedRequests {
    pub(crate) class: RecoveryClass,
    /// Body of the first request.
    pub(crate) body: String,
    /// Number of requests that arrived.
    pub(crate) times: u32,
    /// Number of changes that the requests caused.
    pub(crate) applied: u32,
    /// Answer to each of the requests.
    pub(crate) result: String,
}

#[derive(Default)]
pub(crate) struct World {
    by_key: BTreeMap<String, ArrivedRequests>,
    /// Number of reads.
    pub(crate) reads: u64,
}

impl World {
    /// Records a request that arrives. Returns its answer.
    ///
    /// # Errors
    /// Returns an error if the key came with a different body before.
    pub(crate) fn arrive(&mut self, class: RecoveryClass, key: &str, body: &str) -> Result<String, String> {
        let n = self.by_key.len();
        let arrived = self.by_key.entry(key.to_owned()).or_insert_with(|| ArrivedRequests {
            class,
            body: body.to_owned(),
            times: 0,
            applied: 0,
            result: format!("{{\"done\":{n}}}"),
        });
        arrived.times += 1;
        // The system behind a keyed tool ignores a repeated key.
        arrived.applied += u32::from(class != RecoveryClass::Keyed || arrived.applied == 0);
        match arrived.body == body {
            true => Ok(arrived.result.clone()),
            false => Err(format!("{key} came with another body: {} and {body}", arrived.body)),
        }
    }

    /// Returns the requests that arrived under a key.
    pub(crate) fn arrived_under(&self, key: &str) -> Option<&ArrivedRequests> {
        self.by_key.get(key)
    }

    pub(crate) fn all(&self) -> &BTreeMap<String, ArrivedRequests> {
        &self.by_key
    }
}
