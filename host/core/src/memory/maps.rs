//! Effect store and key-value store of the in-memory store, which is the reference model of a store.

use async_trait::async_trait;

use super::Memory;
use crate::model::effect::Effect;
use crate::model::ids::JobId;
use crate::storage::{EffectStore, KeyValue, StoreError, WriteError, admit};

#[async_trait]
impl EffectStore for Memory {
    async fn put(&self, job_id: &JobId, effects: &[Effect]) -> Result<(), WriteError> {
        let mut state = self.state();
        let stored = match state.jobs.get_mut(job_id) {
            Some(job) => &mut job.snapshot.effects,
            None => state.effects.entry(job_id.clone()).or_default(),
        };
        for index in admit::new_effects_of(stored, effects)? {
            let effect = &effects[index];
            stored.insert((effect.slot.clone(), effect.try_no), effect.to_bytes());
        }
        state.counters.flushes += 1;
        Ok(())
    }

    async fn effects(&self, job_id: &JobId) -> Result<Vec<Effect>, StoreError> {
        let state = self.state();
        let stored = state.jobs.get(job_id).map(|job| &job.snapshot.effects).or_else(|| state.effects.get(job_id));
        let stored = stored.into_iter().flatten();
        let read = |((slot, try_no), bytes): (&(_, u32), &Vec<u8>)| {
            serde_json::from_slice(bytes)
                .map_err(|error| StoreError::Damaged(format!("effect of {slot}, try {try_no}: {error}")))
        };
        stored.map(read).collect()
    }
}

#[async_trait]
impl KeyValue for Memory {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.state().values.get(&(namespace.to_owned(), key.to_owned())).cloned())
    }

    async fn set(&self, namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.state().values.insert((namespace.to_owned(), key.to_owned()), value.to_owned());
        Ok(())
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError> {
        Ok(self.state().values.remove(&(namespace.to_owned(), key.to_owned())).is_some())
    }
}
