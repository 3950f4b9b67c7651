//! Observations of a run's jobs, as the protocol model follows them. `recording.rs` adds most of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use latchwork_core::model::effect::{Answer, Effect};
use latchwork_core::model::ids::JobId;
use latchwork_model::ModelClass;
use latchwork_model::trace::Observation;

use crate::traces::snapshot::ModelSnapshot;

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

/// Observer of one job.
pub(crate) struct JobObserver {
    pub(crate) snapshot: ModelSnapshot,
    pub(crate) seen: Vec<Observation>,
    /// Attempts of each process.
    pub(crate) attempts: BTreeMap<String, Vec<u8>>,
    /// Reads that were answered but whose answers are not stored yet, by result. Each value contains the
    /// attempt, the slot, the try, and the attempt in the external key.
    pub(crate) pending_reads: BTreeMap<String, (u8, u8, u8, u8)>,
    pub(crate) over: bool,
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

    pub(crate) fn of<T>(&self, job_id: &JobId, change: impl FnOnce(&mut JobObserver) -> T) -> Option<T> {
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

impl JobObserver {
    pub(crate) fn reads(&self, slot: u8) -> bool {
        self.snapshot.calls()[usize::from(slot)] == ModelClass::Read
    }

    pub(crate) fn by(&self, process: &str) -> Vec<u8> {
        self.attempts.get(process).cloned().unwrap_or_default()
    }

    /// Records reads whose answers are now stored. A read changes nothing and needs no durable record, so it is
    /// observed only when its answer is stored.
    pub(crate) fn record_reads(&mut self, effects: &[Effect]) {
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
