//! Processes consecutive batches of a group: reads all data that they touch, decides about each batch in order,
//! and writes the admitted batches. This takes two scripts for any number of batches.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::{Hash, JobId, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::cost::Charge;
use latchwork_core::rules::ledger::LedgerRow;
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::admit::{ActionId, ActionKeys, JobSnapshot};
use latchwork_core::storage::expectation::Expectation;
use latchwork_core::storage::{ActionRow, Batch, InboxRequest, Payload, StoreError, WriteError, admit};

use crate::clock::Timestamps;
use crate::connection::Connection;
use crate::error::TransactionFailure;
use crate::row::RowReader;
use crate::statement::{StatementExecutor, StatementName};
use crate::statement_batch::StatementBatch;
use crate::writer::Tx;
use crate::{actions, awaited, costs, effects, events, inbox, jobs, ledger, payloads, reusables, timers};

/// A job of the group.
pub(crate) struct GroupJob {
    pub(crate) id: i64,
    pub(crate) snapshot: JobSnapshot,
    /// State before the group. If the group does not change the state, the column `state` and its index are not
    /// updated.
    pub(crate) initial_state: JobState,
    /// True if the group writes the job's row.
    pub(crate) touched: bool,
    /// Description of inconsistent stored data of the job.
    pub(crate) damage: Option<String>,
}

/// All data that the group touches, including the changes of the batches admitted so far.
#[derive(Default)]
pub(crate) struct GroupState {
    pub(crate) jobs: BTreeMap<JobId, GroupJob>,
    pub(crate) actions: ActionKeys,
    /// Jobs whose own row is damaged.
    pub(crate) damaged: BTreeMap<JobId, StoreError>,
}

impl GroupState {
    /// Calls `take` to load a row into the job's snapshot. If `take` fails, only this job counts as damaged.
    pub(crate) fn update_job(&mut self, job_id: &str, take: impl FnOnce(&mut JobSnapshot) -> Result<(), StoreError>) {
        let Some(known) = self.jobs.get_mut(job_id) else { return };
        if let Err(error) = take(&mut known.snapshot) {
            known.damage.get_or_insert(match error {
                StoreError::Damaged(message) => message,
                other => other.to_string(),
            });
        }
    }
}

/// Rows to write, in order. A later change of a row replaces the earlier one.
#[derive(Default)]
pub(crate) struct Writes<'a> {
    pub(crate) events: Vec<events::Append>,
    pub(crate) ledger: BTreeMap<(i64, Slot), LedgerRow>,
    pub(crate) effects: Vec<(i64, &'a Effect)>,
    pub(crate) payloads: Vec<(i64, &'a Payload)>,
    pub(crate) inbox_done: Vec<i64>,
    pub(crate) requests: Vec<(i64, InboxRequest)>,
    pub(crate) charges: Vec<(i64, Charge)>,
    pub(crate) actions: BTreeMap<ActionId, Option<(i64, ActionRow)>>,
    pub(crate) waits: BTreeSet<(ActionId, i64)>,
    pub(crate) reusables: BTreeMap<ActionId, (i64, &'a ReusableResult)>,
    pub(crate) awaited: BTreeMap<(i64, &'a str), &'a Expectation>,
    pub(crate) timers: BTreeMap<(i64, &'a str), Option<i64>>,
}

/// End of a log: next sequence number and hash of the last event.
type LogPosition = (u64, Hash);

/// Log position of a job before and after a batch. If a commit is not answered, these positions help to determine its
/// outcome.
pub(crate) struct BatchPositions {
    job_id: JobId,
    before: LogPosition,
    after: LogPosition,
}

/// Outcome of an unanswered commit, as far as the log of one job shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitOutcome {
    /// The log ends where it ended before the group.
    NotCommitted,
    /// The log ends where the group would take it.
    Committed,
    /// The outcome cannot be determined.
    Undetermined,
}

/// Decides about each of `batches` and writes the admitted ones.
pub(crate) async fn run(
    tx: &mut Tx<'_>,
    batches: &mut [(&Batch, &mut Option<Result<(), WriteError>>)],
    marks: &mut Vec<BatchPositions>,
) -> Result<(), TransactionFailure> {
    let now = tx.now().await?;
    let (now_us, boot_us) = (now.now_us, now.boot_us);
    let mut seen = read(tx, batches, &now).await?;
    let mut writes = Writes::default();
    for (batch, outcome) in batches.iter_mut() {
        **outcome = Some(match &tx.restored {
            // No call may be started if this database may lack earlier calls.
            Some(restored) if batch.kind.starts_calls() => Err(restored.clone().into()),
            _ => admit_batch(batch, &mut seen, &mut writes, boot_us, marks),
        });
    }
    let mut script = StatementBatch::default();
    jobs::update(&mut script, seen.jobs.values(), now_us);
    events::insert(&mut script, &writes.events);
    ledger::replace(&mut script, &writes.ledger);
    effects::insert(&mut script, &writes.effects);
    payloads::insert(&mut script, &writes.payloads);
    actions::replace(&mut script, &writes);
    reusables::replace(&mut script, &writes.reusables);
    inbox::finish(&mut script, &writes.inbox_done);
    inbox::insert(&mut script, &writes.requests, now_us);
    awaited::replace(&mut script, &writes.awaited);
    timers::replace(&mut script, &writes.timers);
    costs::add(&mut script, &writes.charges);
    if !script.is_empty() {
        tx.run_last(StatementName::GROUP_WRITE, script).await?;
    }
    Ok(())
}

async fn read(
    tx: &mut Tx<'_>,
    batches: &[(&Batch, &mut Option<Result<(), WriteError>>)],
    now: &Timestamps,
) -> Result<GroupState, TransactionFailure> {
    let all: Vec<&Batch> = batches.iter().map(|(batch, _)| *batch).collect();
    let mut script = StatementBatch::default();
    // The order matters: a job's own row must be loaded before the other rows of the job.
    let job_parts = jobs::read(&mut script, &all);
    let ledger_parts = ledger::read(&mut script, &all);
    let effect_parts = effects::read(&mut script, &all);
    let payload_parts = payloads::read(&mut script, &all);
    let inbox_parts = inbox::read(&mut script, &all);
    let action_parts = actions::read(&mut script, &all);
    let rows = tx.run(StatementName::GROUP_READ, script).await?;
    let mut rows = rows.iter();
    let mut seen = GroupState::default();
    for row in rows.by_ref().take(job_parts).flatten() {
        jobs::load_row(&mut seen, RowReader::new(row, "jobs"), now)?;
    }
    for row in rows.by_ref().take(ledger_parts).flatten() {
        ledger::load_row(&mut seen, RowReader::new(row, "ledger"))?;
    }
    for row in rows.by_ref().take(effect_parts).flatten() {
        effects::load_row(&mut seen, RowReader::new(row, "effects"))?;
    }
    for row in rows.by_ref().take(payload_parts).flatten() {
        payloads::load_row(&mut seen, RowReader::new(row, "payloads"))?;
    }
    for row in rows.by_ref().take(inbox_parts).flatten() {
        inbox::load_row(&mut seen, RowReader::new(row, "inbox"))?;
    }
    actions::load_rows(&mut seen, rows.by_ref().take(action_parts), now)?;
    // An unlocked job has started to wait for one of the keys. The transaction is repeated, because that job must be
    // locked before anything is read.
    if seen.jobs.keys().any(|job_id| !tx.has_locked(job_id)) {
        return Err(TransactionFailure::Retry);
    }
    Ok(seen)
}

/// Decides about one batch and adds its rows to `writes`.
fn admit_batch<'a>(
    batch: &'a Batch,
    seen: &mut GroupState,
    writes: &mut Writes<'a>,
    boot_us: i64,
    marks: &mut Vec<BatchPositions>,
) -> Result<(), WriteError> {
    if let Some(error) = seen.damaged.get(&batch.job_id) {
        return Err(error.clone().into());
    }
    let known = seen.jobs.get_mut(&batch.job_id).ok_or_else(|| WriteError::NoJob(batch.job_id.clone()))?;
    if let Some(damage) = &known.damage {
        return Err(WriteError::Damaged(damage.clone()));
    }
    let before = (known.snapshot.next_seq, known.snapshot.head);
    let changes = admit::admit(&mut known.snapshot, &mut seen.actions, batch, boot_us)?;
    known.touched = true;
    let id = known.id;
    let after = (known.snapshot.next_seq, known.snapshot.head);
    marks.push(BatchPositions { job_id: batch.job_id.clone(), before, after });
    writes.events.extend(events::Append::of(id, &batch.events));
    writes.ledger.extend(changes.ledger.into_iter().map(|row| ((id, row.slot.clone()), row)));
    writes.effects.extend(changes.effects.iter().map(|index| (id, &batch.effects[*index])));
    writes.payloads.extend(changes.payloads.iter().map(|index| (id, &batch.payloads[*index])));
    writes.inbox_done.extend(&batch.inbox_done);
    for reusable in &batch.reusables {
        let ReusableResult { tenant_id, operator, input_hash, .. } = reusable;
        writes.reusables.insert((tenant_id.clone(), operator.clone(), *input_hash), (id, reusable));
    }
    writes.awaited.extend(batch.expectations.iter().map(|awaited| ((id, awaited.name.as_str()), awaited)));
    writes.timers.extend(batch.timers.iter().map(|timer| ((id, timer.name.as_str()), timer.due_us)));
    writes.charges.extend(changes.charges.into_iter().map(|charge| (id, charge)));
    for (action, row) in changes.actions {
        writes.waits.retain(|(waited, _)| *waited != action || row.as_ref().is_some_and(|row| row.receipt.is_none()));
        writes.actions.insert(action, row.map(|row| (id, row)));
    }
    writes.waits.extend(changes.waits.into_iter().map(|action| (action, id)));
    for (job_id, (_, operator, key)) in changes.notified {
        let Some(waiter) = seen.jobs.get_mut(&job_id) else { continue };
        if waiter.snapshot.state.is_terminal() {
            continue;
        }
        let request = InboxRequest::KeySettled { operator, key };
        waiter.snapshot.apply_request(&request);
        waiter.touched = true;
        writes.requests.push((waiter.id, request));
    }
    Ok(())
}

/// Reads the log positions of the jobs in `marks`. Returns for each job the outcome that its position proves.
pub(crate) async fn commit_outcomes(
    hand: &StatementExecutor,
    conn: &mut Connection,
    marks: &[BatchPositions],
) -> Result<Vec<CommitOutcome>, sqlx::Error> {
    let mut spans: BTreeMap<&JobId, (LogPosition, LogPosition)> = BTreeMap::new();
    for mark in marks {
        spans.entry(&mark.job_id).or_insert((mark.before, mark.after)).1 = mark.after;
    }
    let ids: Vec<&JobId> = spans.keys().copied().collect();
    let mut script = StatementBatch::default();
    script.push_over_rows(
        "SELECT j.job_id, j.next_seq, j.head FROM ",
        1,
        " CROSS JOIN jobs j ON j.job_id = v.column1",
        &ids,
        |script, id| {
            script.text(id.as_str());
        },
    );
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = hand.run(conn, StatementName::REREAD, script).await?;
    let mut found = Vec::new();
    for row in rows.iter().flatten() {
        let mut row = RowReader::new(row, "jobs");
        let (Ok(job_id), Ok(seq), Ok(head)) = (row.text(), row.u64(), row.hash()) else {
            found.push(CommitOutcome::Undetermined);
            continue;
        };
        let (before, after) = spans[&JobId::from(job_id)];
        found.push(match (seq, head) {
            // A batch without events does not move the end of the log. The position therefore proves nothing.
            _ if before == after => CommitOutcome::Undetermined,
            place if place == after => CommitOutcome::Committed,
            place if place == before => CommitOutcome::NotCommitted,
            _ => CommitOutcome::Undetermined,
        });
    }
    Ok(found)
}
