//! Processes consecutive batches of a group: reads all data that they touch, decides about each batch in order, and
//! writes the admitted batches. Two statement batches suffice for any number of batches: the first reads, and the
//! second writes.

use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::{Batch, InboxRequest, WriteError, admit};

use crate::os::clock::Timestamps;
use crate::sql::error::TransactionFailure;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::group_state::GroupState;
use crate::tables::{actions, awaited, costs, effects, events, inbox, jobs, ledger, payloads, reusables, timers};
use crate::transaction::tx::Tx;
use crate::write::log_positions::BatchPositions;
use crate::write::writes::RowWrites;

/// Decides about each of `batches` and writes the admitted batches.
pub(crate) async fn run(
    tx: &mut Tx<'_>,
    batches: &mut [(&Batch, &mut Option<Result<(), WriteError>>)],
    marks: &mut Vec<BatchPositions>,
) -> Result<(), TransactionFailure> {
    let now = tx.now().await?;
    let (now_us, boot_us) = (now.now_us, now.boot_us);
    let mut seen = read(tx, batches, &now).await?;
    let mut writes = RowWrites::default();
    for (batch, outcome) in batches.iter_mut() {
        **outcome = Some(match &tx.restored {
            // No call may be started if this database may lack earlier calls.
            Some(restored) if batch.writes.kind.starts_calls() => Err(restored.clone().into()),
            _ => admit_batch(batch, &mut seen, &mut writes, boot_us, marks),
        });
    }
    let mut statements = StatementBatch::default();
    jobs::update(&mut statements, seen.jobs.values(), now_us);
    events::insert(&mut statements, &writes.events);
    ledger::replace(&mut statements, &writes.ledger);
    effects::insert(&mut statements, &writes.effects);
    payloads::insert(&mut statements, &writes.payloads);
    actions::replace(&mut statements, &writes.actions, &writes.waits);
    reusables::replace(&mut statements, &writes.reusables);
    inbox::finish(&mut statements, &writes.inbox_done);
    inbox::insert(&mut statements, &writes.requests, now_us);
    awaited::replace(&mut statements, &writes.awaited);
    timers::replace(&mut statements, &writes.timers);
    costs::add(&mut statements, &writes.charges);
    if !statements.is_empty() {
        tx.run_last(StatementName::GROUP_WRITE, statements).await?;
    }
    Ok(())
}

async fn read(
    tx: &mut Tx<'_>,
    batches: &[(&Batch, &mut Option<Result<(), WriteError>>)],
    now: &Timestamps,
) -> Result<GroupState, TransactionFailure> {
    let all: Vec<&Batch> = batches.iter().map(|(batch, _)| *batch).collect();
    let mut statements = StatementBatch::default();
    // The rows are loaded in the order of these queries. A job's own row must come first. If a job is not loaded yet,
    // its other rows are ignored.
    let job_parts = jobs::read(&mut statements, &all);
    let ledger_parts = ledger::read(&mut statements, &all);
    let effect_parts = effects::read(&mut statements, &all);
    let payload_parts = payloads::read(&mut statements, &all);
    let inbox_parts = inbox::read(&mut statements, &all);
    let action_parts = actions::read(&mut statements, &all);
    let rows = tx.run(StatementName::GROUP_READ, statements).await?;
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
    // If a job of the group has no lock, this job began to wait for an action key of the group after the group had
    // chosen its locks. The transaction is repeated. The repeated transaction locks this job before it reads anything.
    if seen.jobs.keys().any(|job_id| !tx.has_locked(job_id)) {
        return Err(TransactionFailure::Retry);
    }
    Ok(seen)
}

/// Decides about one batch and adds its rows to `writes`.
fn admit_batch<'a>(
    batch: &'a Batch,
    seen: &mut GroupState,
    writes: &mut RowWrites<'a>,
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
    writes.events.extend(events::Append::of(id, &batch.writes.events));
    writes.ledger.extend(changes.ledger.into_iter().map(|row| ((id, row.slot.clone()), row)));
    writes.effects.extend(changes.effects.iter().map(|index| (id, &batch.writes.effects[*index])));
    writes.payloads.extend(changes.payloads.iter().map(|index| (id, &batch.writes.payloads[*index])));
    writes.inbox_done.extend(&batch.writes.inbox_done);
    for reusable in &batch.writes.reusables {
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
