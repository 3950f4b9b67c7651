//! Looks up data of other jobs: holders of action keys, and results that may be reused.

use std::sync::Arc;

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, Lookup};
use latchwork_core::model::effect::Answer;
use latchwork_core::model::ids::{Hash, Operator, Slot, StepId};
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::state::{ReuseCandidate, label};

use super::aborted::RunAborted;
use super::run::Run;

impl Run {
    /// Fetches the data of other jobs that steps need before they can advance.
    pub(crate) async fn prefetch(&self) -> Result<(), RunAborted> {
        let wanted = {
            let state = self.state();
            decide::needed_lookups(&state.durable, &self.context(), &state.running_steps)
        };
        for lookup in wanted {
            match lookup {
                Lookup::Action { slot, operator, key } => self.fetch_action(slot, &operator, key).await?,
                Lookup::Outcome { step_id, operator, input_hash } => {
                    self.fetch_reusable(step_id, &operator, input_hash).await?;
                }
            }
        }
        Ok(())
    }

    /// Reads the reservation of the call's action key. Does nothing if the call has no action key.
    pub(crate) async fn find_key_holder(&self, invocation: &Invocation) -> Result<(), RunAborted> {
        match invocation.action_key {
            Some(key) => self.fetch_action(invocation.slot.clone(), &invocation.operator, key).await,
            None => Ok(()),
        }
    }

    async fn fetch_action(&self, slot: Slot, operator: &Operator, key: Hash) -> Result<(), RunAborted> {
        let tenant = self.tenant();
        let held = self.worker.parts.journal.action_reservation(&tenant, operator, key).await?;
        self.state().durable.prefetched.actions.insert(slot, held);
        Ok(())
    }

    async fn fetch_reusable(&self, step: StepId, operator: &Operator, input_hash: Hash) -> Result<(), RunAborted> {
        let tenant = self.tenant();
        let found = self.worker.parts.journal.reusable(&tenant, operator, input_hash).await?;
        let candidate = match found {
            Some(reusable) => {
                let output = self.reusable_output(&reusable).await?;
                Some(ReuseCandidate { reusable, output })
            }
            None => None,
        };
        self.state().durable.prefetched.outcomes.insert(step, candidate);
        Ok(())
    }

    /// Reads the output of a reusable result of another job. The output of a step plugin is stored as a
    /// payload. The output of a tool is part of the tool's effect.
    async fn reusable_output(&self, reusable: &ReusableResult) -> Result<Option<Arc<[u8]>>, RunAborted> {
        let parts = &self.worker.parts;
        let ReusableResult { job_id, step_id, output_hash, .. } = reusable;
        if let Some(bytes) = parts.journal.payload(job_id, &label::output(step_id)).await? {
            return Ok(Some(bytes.into()));
        }
        let slot = Slot::of_step(step_id);
        let answers = parts.effects.effects(job_id).await?.into_iter().filter(|effect| effect.slot == slot);
        let outputs = answers.filter_map(|effect| match effect.answer {
            Answer::Ok(output) => Some(output.result.into_bytes()),
            _ => None,
        });
        let output = outputs.into_iter().find(|bytes| Hash::of(&[bytes]) == *output_hash);
        Ok(output.map(Into::into))
    }

    fn tenant(&self) -> String {
        self.state().durable.job.header.tenant_id.clone()
    }
}
