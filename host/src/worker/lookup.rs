//! Lookups of other jobs' work: holders of action keys and results that may be reused.

use std::sync::Arc;

use latchwork_core::decide::{self, Invocation, Lookup};
use latchwork_core::effect::Answer;
use latchwork_core::ids::{Hash, Operator, Slot, StepId};
use latchwork_core::reuse::Reusable;
use latchwork_core::state::{Candidate, label};

use super::run::{Dropped, Run};

impl Run {
    /// Fetches the lookups that steps need before they can advance. Returns true if there were any.
    pub(super) async fn look_up(&self) -> Result<bool, Dropped> {
        let wanted = {
            let state = self.state();
            decide::lookups(&state.durable, &self.context(), &state.running)
        };
        let any = !wanted.is_empty();
        for lookup in wanted {
            match lookup {
                Lookup::Action { slot, operator, key } => self.look_at_action(slot, &operator, key).await?,
                Lookup::Outcome { step_id, operator, input_hash } => {
                    self.look_for_outcome(step_id, &operator, input_hash).await?;
                }
            }
        }
        Ok(any)
    }

    /// Finds the holder of the call's action key.
    pub(super) async fn look_who_holds(&self, invocation: &Invocation) -> Result<(), Dropped> {
        match invocation.action_key {
            Some(key) => self.look_at_action(invocation.slot.clone(), &invocation.operator, key).await,
            None => Ok(()),
        }
    }

    async fn look_at_action(&self, slot: Slot, operator: &Operator, key: Hash) -> Result<(), Dropped> {
        let tenant = self.tenant();
        let held = self.worker.parts.journal.action(&tenant, operator, key).await?;
        self.state().durable.seen.actions.insert(slot, held);
        Ok(())
    }

    async fn look_for_outcome(&self, step: StepId, operator: &Operator, input_hash: Hash) -> Result<(), Dropped> {
        let tenant = self.tenant();
        let found = self.worker.parts.journal.reusable(&tenant, operator, input_hash).await?;
        let candidate = match found {
            Some(reusable) => {
                let output = self.output_of(&reusable).await?;
                Some(Candidate { reusable, output })
            }
            None => None,
        };
        self.state().durable.seen.outcomes.insert(step, candidate);
        Ok(())
    }

    /// Reads the output of a reusable step. The output of a step plugin is a payload of its own. The output of
    /// a tool is the result in its effect.
    async fn output_of(&self, reusable: &Reusable) -> Result<Option<Arc<[u8]>>, Dropped> {
        let parts = &self.worker.parts;
        let Reusable { job_id, step_id, output_hash, .. } = reusable;
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
