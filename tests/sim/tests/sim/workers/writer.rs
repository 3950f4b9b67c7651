//! Writer of one process. Batches are queued, share commits, and are answered in order. If the process dies,
//! deferred writes that were not part of a commit yet are lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use latchwork_core::event::Event;
use latchwork_core::model::ids::JobId;
use latchwork_core::state::Durable;
use latchwork_core::storage::{Batch, BatchKind, EffectStore, Journal, WriteError};

use crate::simulation::Simulation;
use crate::workers::process::Process;

/// Time for which a batch that may be deferred waits for other batches.
const LINGER: Duration = Duration::from_millis(10);

pub(crate) struct Queued {
    batch: Batch,
    done: oneshot::Sender<Result<(), WriteError>>,
}

/// Queue for the batches of a process.
pub(crate) struct Queue(mpsc::UnboundedSender<Queued>);

/// Fate of a commit.
#[derive(Clone, Copy, PartialEq)]
enum CommitFate {
    Answered,
    /// The commit never reached the store.
    RequestLost,
    /// The commit was applied, but the process receives no answer.
    AnswerLost,
}

impl Queue {
    pub(crate) fn of(process: &Arc<Process>) -> Self {
        let (queue, queued) = mpsc::unbounded_channel();
        tokio::spawn(run(process.clone(), queued));
        Self(queue)
    }

    /// Queues the batch immediately. The answer comes through the receiver.
    pub(crate) fn put(&self, batch: Batch) -> oneshot::Receiver<Result<(), WriteError>> {
        let (done, answer) = oneshot::channel();
        // If the writer has ended, the receiver returns an error.
        drop(self.0.send(Queued { batch, done }));
        answer
    }
}

async fn run(process: Arc<Process>, mut queued: mpsc::UnboundedReceiver<Queued>) {
    while let Some(first) = queued.recv().await {
        let mut group = vec![first];
        while group.iter().all(|queued| queued.batch.writes.lingers()) {
            match tokio::time::timeout(LINGER, queued.recv()).await {
                Ok(Some(next)) => group.push(next),
                Ok(None) | Err(_) => break,
            }
        }
        while let Ok(next) = queued.try_recv() {
            group.push(next);
        }
        commit(&process, group).await;
    }
}

async fn commit(process: &Arc<Process>, group: Vec<Queued>) {
    let scene = &process.scene;
    process.wait_while_paused().await;
    process.pass_crash_point("write", false);
    process.wait_while_paused().await;
    let fate = match () {
        () if process.is_store_unreachable() => CommitFate::RequestLost,
        () if scene.fault_occurs(scene.weather.request_lost_in, "lost write") => CommitFate::RequestLost,
        () if scene.fault_occurs(scene.weather.answer_lost_in, "lost answer of a write") => CommitFate::AnswerLost,
        () => CommitFate::Answered,
    };
    let fate = if loses_answer(scene, &group) { CommitFate::AnswerLost } else { fate };
    let fate = if starts_write_delay(process, &group) { CommitFate::RequestLost } else { fate };
    process.statement_sent();
    if fate != CommitFate::RequestLost {
        process.wait_for_write_delay().await;
    }
    scene.transit_delay().await;
    let mut answers = Vec::new();
    for Queued { batch, done } in group {
        let result = match fate {
            CommitFate::RequestLost => Err(WriteError::Unavailable("the request was lost".to_owned())),
            CommitFate::Answered | CommitFate::AnswerLost => apply(process, batch).await,
        };
        answers.push((done, result));
    }
    process.statement_arrived();
    process.pass_crash_point("write", true);
    scene.transit_delay().await;
    process.wait_while_paused().await;
    for (done, result) in answers {
        let result = match fate {
            CommitFate::AnswerLost => Err(WriteError::Unknown("the answer was lost".to_owned())),
            CommitFate::Answered | CommitFate::RequestLost => result,
        };
        // Sending the result fails if the caller no longer waits for it. The failure is ignored.
        drop(done.send(result));
    }
}

/// Returns true if the answer of this commit is to be lost.
fn loses_answer(scene: &Simulation, group: &[Queued]) -> bool {
    let mut lose = scene.lose_answer_of.lock().expect("no holder panics");
    let found = lose.is_some_and(|wanted| has_event(group, wanted));
    if found {
        *lose = None;
    }
    found
}

/// Returns true if this commit is to be lost. Also delays the later writes of the process.
fn starts_write_delay(process: &Process, group: &[Queued]) -> bool {
    let mut hamper = process.scene.delay_writes_after.lock().expect("no holder panics");
    let Some((_, ms)) = hamper.filter(|(wanted, _)| has_event(group, wanted)) else { return false };
    *hamper = None;
    process.delay_writes(ms);
    true
}

fn has_event(group: &[Queued], event: &str) -> bool {
    group.iter().flat_map(|queued| &queued.batch.writes.events).any(|found| kind(found) == event)
}

/// Applies a batch to the store and records the result in the trace.
async fn apply(process: &Process, batch: Batch) -> Result<(), WriteError> {
    let scene = &process.scene;
    let job_id = batch.job_id.clone();
    let kinds: Vec<&str> = batch.writes.events.iter().map(kind).collect();
    let what = format!("{} of attempt {} at {}: {}", job_id, batch.attempt, batch.expect_seq, kinds.join(" "));
    let starts =
        batch.writes.kind.starts_calls() && batch.writes.ledger.iter().any(|write| !write.row().slot.is_compensation());
    let cancelled = scene.store().job(&job_id).await.ok().flatten().is_some_and(|row| row.cancel_requested);
    let (attempt, audit) = (batch.attempt, batch.writes.kind == BatchKind::Audit);
    let seen = scene.records.is_some().then(|| batch.clone());
    let result = scene.store().write(batch).await;
    if let Some(batch) = seen {
        scene.record_write(&batch, &result).await;
    }
    let outcome = match &result {
        Ok(()) => "written",
        Err(WriteError::Fenced { .. }) => "fenced",
        Err(WriteError::NotHeld { .. }) => "not held",
        Err(WriteError::Conflict { .. } | WriteError::OtherHead { .. }) => "conflict",
        Err(WriteError::LeaseExpired) => "lease over",
        Err(WriteError::Cancelled) => "cancelled",
        Err(WriteError::InboxPending) => "inbox pending",
        Err(WriteError::RowMismatch { .. }) => "another row",
        Err(WriteError::EffectExists { .. }) => "another effect",
        Err(WriteError::ActionKey(_)) => "key held",
        Err(WriteError::ActionKeyFree { .. }) => "key open",
        Err(_) => "broken",
    };
    scene.add_trace_line(format_args!("{} writes {what}: {outcome}", process.name()));
    scene.tally.count(format!("write {outcome}"));
    match &result {
        // Two concurrent audit writes of a finished job may both remove the same inbox rows, so one of the writes
        // fails.
        Err(WriteError::Defect(_)) if audit => {}
        Err(error @ (WriteError::Defect(_) | WriteError::Damaged(_) | WriteError::PayloadExists { .. })) => {
            scene.report_violation(format!("{what}: {error}"));
        }
        Ok(()) if starts && cancelled => scene.report_violation(format!("{what} starts a call of a cancelled job")),
        Ok(()) => check_after_write(process, &job_id, attempt).await,
        Err(_) => {}
    }
    result
}

/// Checks after a write that the writer held the job and that the job can be loaded.
async fn check_after_write(process: &Process, job_id: &JobId, attempt: u32) {
    let scene = &process.scene;
    let Ok(Some(row)) = scene.store().job(job_id).await else { return };
    if row.attempt != attempt {
        scene.report_violation(format!(
            "{job_id}: a write of attempt {attempt} was taken, and {} holds it",
            row.attempt
        ));
    }
    // Only some writes are checked, because computing the state from the whole log after every write is too slow. The
    // final check covers every prefix of the log.
    if !scene.dice.one_in(16) {
        return;
    }
    let (Ok(Some(record)), Ok(effects)) = (scene.store().load(job_id).await, scene.store().effects(job_id).await)
    else {
        return;
    };
    if let Err(error) = Durable::load(record, effects) {
        scene.report_violation(format!("{job_id} cannot be loaded: {error}"));
    }
}

/// Returns the type of an event, read from its bytes. The keys of an event are sorted, and no value after the key
/// `type` contains another `type`. The last `type` in the bytes is therefore the type of the event.
pub(crate) fn kind(event: &Event) -> &str {
    let text = std::str::from_utf8(&event.bytes).unwrap_or_default();
    let (_, after) = text.rsplit_once("\"type\":\"").unwrap_or_default();
    after.split_once('"').map_or(after, |(name, _)| name)
}
