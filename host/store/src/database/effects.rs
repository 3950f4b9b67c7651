//! Implementation of [`EffectStore`].

use async_trait::async_trait;

use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::JobId;
use latchwork_core::storage::{EffectStore, StoreError, WriteError};

use crate::database::handle::Database;
use crate::tables::effects::{self, PutEffects};

#[async_trait]
impl EffectStore for Database {
    async fn put(&self, job_id: &JobId, effects: &[Effect]) -> Result<(), WriteError> {
        self.writer.work(PutEffects { job_id: job_id.clone(), effects: effects.to_vec() }).await?
    }

    async fn effects(&self, job_id: &JobId) -> Result<Vec<Effect>, StoreError> {
        effects::read_effects(&self.readers, job_id).await
    }
}
