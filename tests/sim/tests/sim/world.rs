//! The world and its witness: requests that arrived, by key. The witness has no access to logs and ledgers.

use std::collections::BTreeMap;

use latchwork_core::manifest::Class;

/// Requests that arrived under one external key.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) class: Class,
    /// Body of the first request.
    pub(crate) body: String,
    /// Number of requests that arrived.
    pub(crate) times: u32,
    /// Number of changes that the requests caused.
    pub(crate) applied: u32,
    /// Answer, which is the same each time.
    pub(crate) result: String,
}

#[derive(Default)]
pub(crate) struct World {
    by_key: BTreeMap<String, Arrived>,
    /// Number of reads.
    pub(crate) reads: u64,
}

impl World {
    /// Records a request that arrives. Returns its answer.
    ///
    /// # Errors
    /// Returns an error if the key came with a different body before.
    pub(crate) fn arrive(&mut self, class: Class, key: &str, body: &str) -> Result<String, String> {
        let n = self.by_key.len();
        let arrived = self.by_key.entry(key.to_owned()).or_insert_with(|| Arrived {
            class,
            body: body.to_owned(),
            times: 0,
            applied: 0,
            result: format!("{{\"done\":{n}}}"),
        });
        arrived.times += 1;
        // The system behind a keyed tool ignores a repeated key.
        arrived.applied += u32::from(class != Class::Keyed || arrived.applied == 0);
        match arrived.body == body {
            true => Ok(arrived.result.clone()),
            false => Err(format!("{key} came with another body: {} and {body}", arrived.body)),
        }
    }

    /// Returns the requests that arrived under a key.
    pub(crate) fn done(&self, key: &str) -> Option<&Arrived> {
        self.by_key.get(key)
    }

    pub(crate) fn all(&self) -> &BTreeMap<String, Arrived> {
        &self.by_key
    }
}
