//! Records the observations of a run's jobs for the protocol model: writes that the store accepted or refused,
//! requests sent and arrived, reconcile requests to tools, and deaths.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use latchwork::guest::tool_call::ToolCallContext;
use latchwork_core::model::effect::{Answer, Effect};
use latchwork_core::model::ids::{JobId, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::storage::{Batch, Journal, WriteError};
use latchwork_model::ModelClass;
use latchwork_model::trace::{Observation, ObservedRefusal};

use crate::simulation::Simulation;
use crate::snapshot::{ModelSnapshot, saturating_u8, slot_number};

/// Observations of one job.
#[derive(Clone)]
pub(crate) struct ObservedJob {
    pub(crate) job_id: JobId,
    pub(crate) calls: Vec<ModelClass>,
    pub(crate) staged: bool,
    pub(crate) seen: Vec<Observation>,
    /// True if the job did something that the model does not support.
    pub(crate) is_unsupported: bool,
}

struct JobObserver {
    snapshot: ModelSnapshot,
    seen: Vec<Observation>,
    /// Attempts of each process.
    attempts: BTreeMap<String, Vec<u8>>,
    /// Reads that were answered but whose answers are not stored yet, by result. Each value contains the
    /// attempt, the slot, the try, and the attempt in the external key.
    pending_reads: BTreeMap<String, (u8, u8, u8, u8)>,
    over: bool,
}

/// Observations of the jobs of one run.
#[derive(Default)]
pub(crate) struct JobObservations(Mutex<BTreeMap<JobId, JobObserver>>);

impl JobObservations {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<JobId, JobObserver>> {
        self.0.lock().expect("no holder panics")
    }

    /// Registers an accepted job whose calls run one after another.
    pub(crate) fn add_job(&self, job_id: &JobId, calls: Vec<ModelClass>) {
        let snapshot = ModelSnapshot::new(calls);
        let of_job = JobObserver {
            snapshot,
            seen: Vec::new(),
            attempts: BTreeMap::new(),
            pending_reads: BTreeMap::new(),
            over: false,
        };
        self.jobs().insert(job_id.clone(), of_job);
    }

    fn of<T>(&self, job_id: &JobId, change: impl FnOnce(&mut JobObserver) -> T) -> Option<T> {
        self.jobs().get_mut(job_id).filter(|of_job| !of_job.over).map(change)
    }

    pub(crate) fn died(&self, process: &str) {
        for of_job in self.jobs().values_mut().filter(|of_job| !of_job.over) {
            if let Some(attempts) = of_job.attempts.remove(process) {
                of_job.seen.push(Observation::Died { attempts });
            }
        }
    }

    pub(crate) fn all(&self, staged: bool) -> Vec<ObservedJob> {
        let recorded = |(job_id, of_job): (&JobId, &JobObserver)| ObservedJob {
            job_id: job_id.clone(),
            calls: of_job.snapshot.calls().to_vec(),
            staged,
            seen: of_job.seen.clone(),
            is_unsupported: of_job.snapshot.is_unsupported,
        };
        self.jobs().iter().map(recorded).collect()
    }
}

/// Origin of a write.
enum WriteOrigin {
    Claim,
    Attempts(Vec<u8>),
    Person,
}

impl JobObserver {
    fn reads(&self, slot: u8) -> bool {
        self.snapshot.calls()[usize::from(slot)] == ModelClass::Read
    }

    fn by(&self, process: &str) -> Vec<u8> {
        self.attempts.get(process).cloned().unwrap_or_default()
    }

    /// Records reads whose answers are now stored. A read changes nothing and needs no durable record. It is therefore
    /// observed only when its answer is stored.
    fn record_reads(&mut self, effects: &[Effect]) {
        for effect in effects {
            let Answer::Ok(output) = &effect.answer else { continue };
            if let Some((by, slot, try_no, key)) = self.pending_reads.remove(&output.result) {
                let value = self.snapshot.add_result(slot, &output.result);
                self.seen.push(Observation::Sent { by, slot, try_no, key });
                self.seen.push(Observation::Arrived { by, slot, try_no, value });
            }
        }
    }
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
            return self.record_change(&batch.job_id, by, &batch.effects, |snapshot| snapshot.apply_batch(batch)).await;
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
