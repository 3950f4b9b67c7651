//! Records the observations of a run's jobs for the protocol model: writes that the store accepted or refused,
//! requests sent and arrived, and reconcile requests to tools.

use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::{JobId, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::storage::{Batch, Journal, WriteError};
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_model::trace::{Observation, ObservedRefusal};

use crate::simulation::Simulation;
use crate::traces::observations::JobObserver;
use crate::traces::snapshot::{ModelSnapshot, saturating_u8, slot_number};

/// Origin of a write.
enum WriteOrigin {
    Claim,
    Attempts(Vec<u8>),
    Person,
}

/// Returns the attempt that the external key contains.
fn key(context: &ToolCallContext) -> u8 {
    let last = context.external_key.rsplit(':').next();
    last.and_then(|text| text.parse().ok()).unwrap_or(u8::MAX)
}

impl Simulation {
    /// Reads the job's row and inbox after a possible change. Records a claim in any case. Records a write or a request
    /// only if the job differs from before.
    async fn record_change(
        &self,
        job_id: &JobId,
        by: WriteOrigin,
        effects: &[Effect],
        change: impl FnOnce(&mut ModelSnapshot),
    ) {
        let Some(records) = &self.records else { return };
        let row = self.store().job(job_id).await.ok().flatten();
        let (Some(row), Ok(inbox)) = (row, self.store().inbox(job_id).await) else { return };
        let over = row.state.is_terminal();
        records.of(job_id, |of_job| {
            let before = of_job.snapshot.job();
            of_job.record_reads(effects);
            change(&mut of_job.snapshot);
            of_job.snapshot.update_row(&row, &inbox);
            let job = of_job.snapshot.job();
            of_job.over = over;
            match by {
                WriteOrigin::Claim => of_job.seen.push(Observation::Claimed { job }),
                _ if job == before => {}
                WriteOrigin::Attempts(by) => of_job.seen.push(Observation::Wrote { by, job }),
                WriteOrigin::Person => of_job.seen.push(Observation::RequestMade { job }),
            }
        });
    }

    pub(crate) async fn record_claim(&self, process: &str, job_id: &JobId, attempt: u32) {
        let Some(records) = &self.records else { return };
        records
            .of(job_id, |of_job| of_job.attempts.entry(process.to_owned()).or_default().push(saturating_u8(attempt)));
        self.record_change(job_id, WriteOrigin::Claim, &[], |_| {}).await;
    }

    pub(crate) async fn record_write(&self, batch: &Batch, result: &Result<(), WriteError>) {
        let Some(records) = &self.records else { return };
        let by = saturating_u8(batch.attempt);
        if result.is_ok() {
            let by = WriteOrigin::Attempts(vec![by]);
            return self
                .record_change(&batch.job_id, by, &batch.writes.effects, |snapshot| snapshot.apply_batch(batch))
                .await;
        }
        let why = match result {
            Err(WriteError::Fenced { .. }) => ObservedRefusal::Fenced,
            Err(WriteError::NotHeld { state }) if *state != JobState::Running => ObservedRefusal::NotHeld,
            Err(WriteError::Cancelled) => ObservedRefusal::Cancelled,
            Err(WriteError::InboxPending) => ObservedRefusal::InboxPending,
            _ => return,
        };
        records.of(&batch.job_id, |of_job| of_job.seen.push(Observation::Refused { by, why }));
    }

    pub(crate) async fn record_answers(&self, process: &str, job_id: &JobId, effects: &[Effect], taken: bool) {
        let Some(records) = &self.records else { return };
        let Some(by) = records.of(job_id, |of_job| of_job.by(process)) else { return };
        let taken = if taken { effects } else { &[] };
        self.record_change(job_id, WriteOrigin::Attempts(by), taken, |snapshot| snapshot.apply_effects(taken)).await;
    }

    pub(crate) async fn record_request(&self, process: Option<&str>, job_id: &JobId) {
        let Some(records) = &self.records else { return };
        let by = match process {
            None => WriteOrigin::Person,
            Some(process) => WriteOrigin::Attempts(records.of(job_id, |of_job| of_job.by(process)).unwrap_or_default()),
        };
        self.record_change(job_id, by, &[], |_| {}).await;
    }

    pub(crate) fn record_sent(&self, context: &ToolCallContext) {
        self.record_call(context, |of_job, (by, slot, try_no)| {
            if !of_job.reads(slot) {
                of_job.seen.push(Observation::Sent { by, slot, try_no, key: key(context) });
            }
        });
    }

    pub(crate) fn record_arrived(&self, context: &ToolCallContext, result: &str) {
        self.record_call(context, |of_job, (by, slot, try_no)| {
            if of_job.reads(slot) {
                of_job.pending_reads.insert(result.to_owned(), (by, slot, try_no, key(context)));
                return;
            }
            let value = of_job.snapshot.add_result(slot, result);
            of_job.seen.push(Observation::Arrived { by, slot, try_no, value });
        });
    }

    pub(crate) fn record_reconcile(&self, context: &ToolCallContext, done: Option<&str>) {
        self.record_call(context, |of_job, (by, slot, _)| {
            let happened = done.map(|result| of_job.snapshot.result_number(slot, result));
            of_job.seen.push(Observation::ReconcileAsked { by, slot, happened });
        });
    }

    fn record_call(&self, context: &ToolCallContext, see: impl FnOnce(&mut JobObserver, (u8, u8, u8))) {
        let Some(records) = &self.records else { return };
        let slot = slot_number(&Slot::new(&context.slot));
        records.of(&JobId::new(&context.step.job_id), |of_job| {
            see(of_job, (saturating_u8(context.attempt), slot, saturating_u8(context.tries_before + 1)));
        });
    }
}
