//! Effect store and key-value store of the in-memory store, which is the reference model of a store.

use async_trait::async_trait;

use super::Memory;
use crate::model::effect::Effect;
use crate::model::ids::JobId;
use crate::storage::map::{bytes_after_set, entry_bytes};
use crate::storage::{EffectStore, KeyValue, MapName, SetError, StoreError, WriteError, admit};

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
    async fn get(&self, map: &MapName, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.state().values.get(&(map.clone(), key.to_owned())).cloned())
    }

    async fn set(&self, map: &MapName, key: &str, value: &[u8], quota: u64) -> Result<(), SetError> {
        let mut state = self.state();
        let values = &mut state.values;
        let entries = values.iter().filter(|((of, _), _)| of == map);
        let used = entries.map(|((_, key), value)| entry_bytes(key.len(), value.len())).sum();
        let name = (map.clone(), key.to_owned());
        let before = values.get(&name).map_or(0, |value| entry_bytes(key.len(), value.len()));
        bytes_after_set(used, before, entry_bytes(key.len(), value.len()), quota).map_err(SetError::Quota)?;
        values.insert(name, value.to_owned());
        Ok(())
    }

    async fn delete(&self, map: &MapName, key: &str) -> Result<bool, StoreError> {
        Ok(self.state().values.remove(&(map.clone(), key.to_owned())).is_some())
    }
}
