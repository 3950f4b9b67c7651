//! The world and its witness: what arrived under which key. It knows nothing of logs and ledgers.

use std::collections::BTreeMap;

use latchwork_core::manifest::Class;

/// What arrived under one external key.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) class: Class,
    /// The body of the first request.
    pub(crate) body: String,
    /// How many requests arrived.
    pub(crate) times: u32,
    /// How often something changed by them.
    pub(crate) applied: u32,
    /// What was answered: the same each time.
    pub(crate) result: String,
}

#[derive(Default)]
pub(crate) struct World {
    by_key: BTreeMap<String, Arrived>,
    /// Looks that change nothing.
    pub(crate) reads: u64,
}

impl World {
    /// A request arrives. Gives what is answered, or what is wrong with it.
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
        // A keyed tool's downstream knows its keys.
        arrived.applied += u32::from(class != Class::Keyed || arrived.applied == 0);
        match arrived.body == body {
            true => Ok(arrived.result.clone()),
            false => Err(format!("{key} came with another body: {} and {body}", arrived.body)),
        }
    }

    /// What was done under a key.
    pub(crate) fn done(&self, key: &str) -> Option<&Arrived> {
        self.by_key.get(key)
    }

    pub(crate) fn all(&self) -> &BTreeMap<String, Arrived> {
        &self.by_key
    }
}
