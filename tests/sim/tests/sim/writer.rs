//! Writer of one process. Batches are queued, share commits, and are answered in order. A deferred write is
//! lost with the process until a commit includes it.

use std::sync::Arc;
use std::time::Duration;

use latchwork_core::event::Event;
use latchwork_core::ids::JobId;
use latchwork_core::state::Durable;
use latchwork_core::storage::{Batch, EffectStore, Flush, Journal, WriteError};
use tokio::sync::{mpsc, oneshot};

use crate::process::Process;
use crate::scene::Scene;

/// Time for which a batch that may be deferred waits for others.
const LINGER: Duration = Duration::from_millis(10);

pub(crate) struct Queued {
    batch: Batch,
    done: oneshot::Sender<Result<(), WriteError>>,
}

/// Queue for the batches of a process.
pub(crate) struct Queue(mpsc::UnboundedSender<Queued>);

/// Fate of a commit.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Told,
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
        while group.iter().all(|queued| queued.batch.flush == Flush::Linger) {
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
    process.lives().await;
    process.passes("write", false);
    process.lives().await;
    let fate = match () {
        () if process.is_cut_off() => Fate::RequestLost,
        () if scene.strikes(scene.weather.request_lost_in, "lost write") => Fate::RequestLost,
        () if scene.strikes(scene.weather.answer_lost_in, "lost answer of a write") => Fate::AnswerLost,
        () => Fate::Told,
    };
    let fate = if loses(scene, &group) { Fate::AnswerLost } else { fate };
    let fate = if is_hampering(process, &group) { Fate::RequestLost } else { fate };
    process.leaves();
    if fate != Fate::RequestLost {
        process.is_hampered().await;
    }
    scene.travel().await;
    let mut answers = Vec::new();
    for Queued { batch, done } in group {
        let result = match fate {
            Fate::RequestLost => Err(WriteError::Unavailable("the request was lost".to_owned())),
            Fate::Told | Fate::AnswerLost => apply(process, batch).await,
        };
        answers.push((done, result));
    }
    process.landed();
    process.passes("write", true);
    scene.travel().await;
    process.lives().await;
    for (done, result) in answers {
        let result = match fate {
            Fate::AnswerLost => Err(WriteError::Unknown("the answer was lost".to_owned())),
            Fate::Told | Fate::RequestLost => result,
        };
        // The receiver is dropped if the sender no longer waits.
        drop(done.send(result));
    }
}

/// Returns true if the answer of this commit is to be lost.
fn loses(scene: &Scene, group: &[Queued]) -> bool {
    let mut lose = scene.lose.lock().expect("no holder panics");
    let found = lose.is_some_and(|wanted| has(group, wanted));
    if found {
        *lose = None;
    }
    found
}

/// Returns true if this commit is to be lost. Also delays the later writes of the process.
fn is_hampering(process: &Process, group: &[Queued]) -> bool {
    let mut hamper = process.scene.hamper.lock().expect("no holder panics");
    let Some((_, ms)) = hamper.filter(|(wanted, _)| has(group, wanted)) else { return false };
    *hamper = None;
    process.hamper(ms);
    true
}

fn has(group: &[Queued], event: &str) -> bool {
    group.iter().flat_map(|queued| &queued.batch.events).any(|found| kind(found) == event)
}

/// Applies a batch to the store and records the result in the trace.
async fn apply(process: &Process, batch: Batch) -> Result<(), WriteError> {
    let scene = &process.scene;
    let job_id = batch.job_id.clone();
    let kinds: Vec<&str> = batch.events.iter().map(kind).collect();
    let what = format!("{} of attempt {} at {}: {}", job_id, batch.attempt, batch.expect_seq, kinds.join(" "));
    let starts = batch.acquire && batch.ledger.iter().any(|write| !write.row().slot.is_compensation());
    let cancelled = scene.store().job(&job_id).await.ok().flatten().is_some_and(|row| row.cancel_requested);
    let (attempt, audit) = (batch.attempt, batch.audit);
    let seen = scene.records.is_some().then(|| batch.clone());
    let result = scene.store().write(batch).await;
    if let Some(batch) = seen {
        scene.saw_write(&batch, &result).await;
    }
    let told = match &result {
        Ok(()) => "written",
        Err(WriteError::Fenced { .. }) => "fenced",
        Err(WriteError::NotHeld { .. }) => "not held",
        Err(WriteError::Conflict { .. } | WriteError::OtherHead { .. }) => "conflict",
        Err(WriteError::LeaseExpired) => "lease over",
        Err(WriteError::Cancelled) => "cancelled",
        Err(WriteError::InboxPending) => "inbox pending",
        Err(WriteError::Row { .. }) => "another row",
        Err(WriteError::EffectExists { .. }) => "another effect",
        Err(WriteError::ActionKey(_)) => "key held",
        Err(WriteError::KeyOpen { .. }) => "key open",
        Err(_) => "broken",
    };
    scene.note(format_args!("{} writes {what}: {told}", process.name()));
    scene.tally.count(format!("write {told}"));
    match &result {
        // Two concurrent audit writes of a finished job may both remove the same inbox rows.
        Err(WriteError::Broken(_)) if audit => {}
        Err(error @ (WriteError::Broken(_) | WriteError::Damaged(_) | WriteError::PayloadExists { .. })) => {
            scene.wrong(format!("{what}: {error}"));
        }
        Ok(()) if starts && cancelled => scene.wrong(format!("{what} starts a call of a cancelled job")),
        Ok(()) => holds(process, &job_id, attempt).await,
        Err(_) => {}
    }
    result
}

/// Checks after a write that the writer held the job and that the job can be loaded.
async fn holds(process: &Process, job_id: &JobId, attempt: u32) {
    let scene = &process.scene;
    let Ok(Some(row)) = scene.store().job(job_id).await else { return };
    if row.attempt != attempt {
        scene.wrong(format!("{job_id}: a write of attempt {attempt} was taken, and {} holds it", row.attempt));
    }
    // Folding the whole log after every write is too slow. The final check folds every prefix.
    if !scene.dice.one_in(16) {
        return;
    }
    let (Ok(Some(record)), Ok(effects)) = (scene.store().load(job_id).await, scene.store().effects(job_id).await)
    else {
        return;
    };
    if let Err(error) = Durable::load(record, effects) {
        scene.wrong(format!("{job_id} cannot be loaded: {error}"));
    }
}

/// Returns the type of an event from its bytes. Keys are sorted, and no later key contains another `type`.
pub(crate) fn kind(event: &Event) -> &str {
    let text = std::str::from_utf8(&event.bytes).unwrap_or_default();
    let (_, after) = text.rsplit_once("\"type\":\"").unwrap_or_default();
    after.split_once('"').map_or(after, |(name, _)| name)
}
