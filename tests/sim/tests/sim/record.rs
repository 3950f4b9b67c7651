//! Records the observations of a run's jobs for the protocol model: writes that the store accepted or
//! refused, requests sent and arrived, questions to tools, and deaths.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use latchwork::engine::ToolCallContext;
use latchwork_core::effect::{Answer, Effect};
use latchwork_core::ids::{JobId, Slot};
use latchwork_core::job::JobState;
use latchwork_core::storage::{Batch, Journal, WriteError};
use latchwork_model::Class;
use latchwork_model::accept::{Refusal, Seen};

use crate::scene::Scene;
use crate::snapshot::{Snapshot, slot_number, small};

/// Observations of one job.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) job_id: JobId,
    pub(crate) calls: Vec<Class>,
    pub(crate) staged: bool,
    pub(crate) seen: Vec<Seen>,
    /// True if the job did something that the model does not support.
    pub(crate) outgrown: bool,
}

struct OfJob {
    snapshot: Snapshot,
    seen: Vec<Seen>,
    /// Attempts of each process.
    attempts: BTreeMap<String, Vec<u8>>,
    /// Reads that were answered but whose answer is not stored yet, by result. The value is attempt, slot,
    /// try and attempt in the key.
    looks: BTreeMap<String, (u8, u8, u8, u8)>,
    over: bool,
}

/// Observations of the jobs of one run.
#[derive(Default)]
pub(crate) struct Records(Mutex<BTreeMap<JobId, OfJob>>);

impl Records {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<JobId, OfJob>> {
        self.0.lock().expect("no holder panics")
    }

    /// Registers an accepted job whose calls run one after another.
    pub(crate) fn accepts(&self, job_id: &JobId, calls: Vec<Class>) {
        let snapshot = Snapshot::new(calls);
        let of_job =
            OfJob { snapshot, seen: Vec::new(), attempts: BTreeMap::new(), looks: BTreeMap::new(), over: false };
        self.jobs().insert(job_id.clone(), of_job);
    }

    fn of<T>(&self, job_id: &JobId, change: impl FnOnce(&mut OfJob) -> T) -> Option<T> {
        self.jobs().get_mut(job_id).filter(|of_job| !of_job.over).map(change)
    }

    pub(crate) fn died(&self, process: &str) {
        for of_job in self.jobs().values_mut().filter(|of_job| !of_job.over) {
            if let Some(attempts) = of_job.attempts.remove(process) {
                of_job.seen.push(Seen::Died { attempts });
            }
        }
    }

    pub(crate) fn all(&self, staged: bool) -> Vec<Recorded> {
        let recorded = |(job_id, of_job): (&JobId, &OfJob)| Recorded {
            job_id: job_id.clone(),
            calls: of_job.snapshot.calls().to_vec(),
            staged,
            seen: of_job.seen.clone(),
            outgrown: of_job.snapshot.outgrown,
        };
        self.jobs().iter().map(recorded).collect()
    }
}

/// Origin of a write.
enum By {
    Claim,
    Attempts(Vec<u8>),
    Person,
}

impl OfJob {
    fn reads(&self, slot: u8) -> bool {
        self.snapshot.calls()[usize::from(slot)] == Class::Read
    }

    fn by(&self, process: &str) -> Vec<u8> {
        self.attempts.get(process).cloned().unwrap_or_default()
    }

    /// Records reads whose answers are now stored. A read changes nothing and needs no durable record, so it
    /// is observed only when its answer is stored.
    fn looked(&mut self, effects: &[Effect]) {
        for effect in effects {
            let Answer::Ok(output) = &effect.answer else { continue };
            if let Some((by, slot, try_no, key)) = self.looks.remove(&output.result) {
                let value = self.snapshot.arrives(slot, &output.result);
                self.seen.push(Seen::Sent { by, slot, try_no, key });
                self.seen.push(Seen::Arrived { by, slot, try_no, value });
            }
        }
    }
}

/// Returns the attempt in the external key.
fn key(context: &ToolCallContext) -> u8 {
    let last = context.external_key.rsplit(':').next();
    last.and_then(|text| text.parse().ok()).unwrap_or(u8::MAX)
}

impl Scene {
    /// Reads the job's row and inbox after a possible change, and records an observation if they differ from
    /// before.
    async fn looks(&self, job_id: &JobId, by: By, effects: &[Effect], change: impl FnOnce(&mut Snapshot)) {
        let Some(records) = &self.records else { return };
        let row = self.store().job(job_id).await.ok().flatten();
        let (Some(row), Ok(inbox)) = (row, self.store().inbox(job_id).await) else { return };
        let over = row.state.is_terminal();
        records.of(job_id, |of_job| {
            let before = of_job.snapshot.job();
            of_job.looked(effects);
            change(&mut of_job.snapshot);
            of_job.snapshot.stands(&row, &inbox);
            let job = of_job.snapshot.job();
            of_job.over = over;
            match by {
                By::Claim => of_job.seen.push(Seen::Claimed { job }),
                _ if job == before => {}
                By::Attempts(by) => of_job.seen.push(Seen::Wrote { by, job }),
                By::Person => of_job.seen.push(Seen::Asked { job }),
            }
        });
    }

    pub(crate) async fn saw_claim(&self, process: &str, job_id: &JobId, attempt: u32) {
        let Some(records) = &self.records else { return };
        records.of(job_id, |of_job| of_job.attempts.entry(process.to_owned()).or_default().push(small(attempt)));
        self.looks(job_id, By::Claim, &[], |_| {}).await;
    }

    pub(crate) async fn saw_write(&self, batch: &Batch, result: &Result<(), WriteError>) {
        let Some(records) = &self.records else { return };
        let by = small(batch.attempt);
        if result.is_ok() {
            let by = By::Attempts(vec![by]);
            return self.looks(&batch.job_id, by, &batch.effects, |snapshot| snapshot.takes(batch)).await;
        }
        let why = match result {
            Err(WriteError::Fenced { .. }) => Refusal::Fenced,
            Err(WriteError::NotHeld { state }) if *state != JobState::Running => Refusal::NotHeld,
            Err(WriteError::Cancelled) => Refusal::Cancelled,
            Err(WriteError::InboxPending) => Refusal::InboxPending,
            _ => return,
        };
        records.of(&batch.job_id, |of_job| of_job.seen.push(Seen::Refused { by, why }));
    }

    pub(crate) async fn saw_answers(&self, process: &str, job_id: &JobId, effects: &[Effect], taken: bool) {
        let Some(records) = &self.records else { return };
        let Some(by) = records.of(job_id, |of_job| of_job.by(process)) else { return };
        let taken = if taken { effects } else { &[] };
        self.looks(job_id, By::Attempts(by), taken, |snapshot| snapshot.puts(taken)).await;
    }

    pub(crate) async fn saw_note(&self, process: Option<&str>, job_id: &JobId) {
        let Some(records) = &self.records else { return };
        let by = match process {
            None => By::Person,
            Some(process) => By::Attempts(records.of(job_id, |of_job| of_job.by(process)).unwrap_or_default()),
        };
        self.looks(job_id, by, &[], |_| {}).await;
    }

    pub(crate) fn saw_leave(&self, context: &ToolCallContext) {
        self.saw_call(context, |of_job, (by, slot, try_no)| {
            if !of_job.reads(slot) {
                of_job.seen.push(Seen::Sent { by, slot, try_no, key: key(context) });
            }
        });
    }

    pub(crate) fn saw_arrive(&self, context: &ToolCallContext, result: &str) {
        self.saw_call(context, |of_job, (by, slot, try_no)| {
            if of_job.reads(slot) {
                of_job.looks.insert(result.to_owned(), (by, slot, try_no, key(context)));
                return;
            }
            let value = of_job.snapshot.arrives(slot, result);
            of_job.seen.push(Seen::Arrived { by, slot, try_no, value });
        });
    }

    pub(crate) fn saw_question(&self, context: &ToolCallContext, done: Option<&str>) {
        self.saw_call(context, |of_job, (by, slot, _)| {
            let happened = done.map(|result| of_job.snapshot.value(slot, result));
            of_job.seen.push(Seen::Questioned { by, slot, happened });
        });
    }

    fn saw_call(&self, context: &ToolCallContext, see: impl FnOnce(&mut OfJob, (u8, u8, u8))) {
        let Some(records) = &self.records else { return };
        let slot = slot_number(&Slot::new(&context.slot));
        records.of(&JobId::new(&context.step.job_id), |of_job| {
            see(of_job, (small(context.attempt), slot, small(context.tries_before + 1)));
        });
    }
}
