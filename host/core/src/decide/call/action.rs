//! Action keys across jobs (§6). Finds the holder of a call's action key. The call then reuses the holder's receipt,
//! waits or is refused.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decide::call::ledger_row::replace_row;
use crate::decide::job::inputs;
use crate::decide::types::Invocation;
use crate::decide::{Context, is_dry};
use crate::event::{Body, KeyHolder};
use crate::model::effect::{Answer, Effect, Output, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Operator, Slot};
use crate::model::manifest::{PinnedOperator, PluginKind};
use crate::plan;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::{CompensationEnd, Durable, Job, label};
use crate::storage::{ActionRow, ActionWrite, Draft, Payload, Record};

/// Answer of a committed action as stored in the reservation of its action key. The reservation outlives the
/// job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredReceipt {
    result: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
}

/// State of a call's action key.
#[derive(Clone, Debug)]
pub(crate) enum KeyState {
    /// The call has no action key.
    Keyless,
    /// The reservation of the key has not been looked up yet.
    NotLookedUp,
    /// No other call holds the key, or the call that holds the key certainly changed nothing.
    Free,
    /// Another call holds the key with other arguments.
    OtherArgs(KeyHolder),
    /// Another call holds the key. That call is still in flight, or its outcome is unknown.
    InProgress(KeyHolder),
    /// Another call performed the action. The values are that call and its answer.
    Performed(KeyHolder, Output),
}

/// Returns the action key of a plan step that is a tool call, or `None` if the step has no key.
///
/// # Errors
/// Fails if the inputs of the step's `idempotency_template` cannot be resolved.
pub fn step_action_key(durable: &Durable, slot: &Slot) -> Result<Option<Hash>, Failure> {
    let job = &durable.job;
    let planned = job.plan.step(&slot.step()).filter(|_| slot.is_step());
    let Some((planned, operator)) = planned.and_then(|planned| Some((planned, job.pinned(&planned.name)?))) else {
        return Ok(None);
    };
    if !is_keyed(job, operator) {
        return Ok(None);
    }
    // Earlier versions did not derive action keys from templates. A call that an earlier version started continues
    // without a key.
    if job.calls.get(slot).is_some_and(|call| call.first_attempt > 0 && call.action_key.is_none()) {
        return Ok(None);
    }
    let input = durable.input(&planned.step_id).unwrap_or_default();
    let input: Value = serde_json::from_slice(&input)
        .map_err(|error| Failure::new(Code::Internal, format!("the recorded input is no JSON: {error}")))?;
    inputs::template_key(durable, planned, &input)
}

/// Returns true if calls of the operator have action keys in this job. A dry run never touches action keys.
pub fn is_keyed(job: &Job, operator: &PinnedOperator) -> bool {
    operator.kind == PluginKind::Tool && operator.is_world_changing() && !is_dry(job.header.mode)
}

/// Hashes arguments without a salt. Equal arguments therefore have the same hash in every job.
pub(crate) fn args_hash(args: &[u8]) -> Hash {
    Hash::of(&[b"args\0", args])
}

/// Serializes a successful answer as the receipt that the reservation stores.
pub(crate) fn receipt(output: &Output) -> Vec<u8> {
    let kept = StoredReceipt { result: output.result.clone(), receipt: output.receipt.clone() };
    serde_json::to_vec(&kept).expect("two texts are plain data")
}

/// Returns true if a stored receipt has the same content as `expected`. Earlier versions stored only the
/// result.
pub(crate) fn is_same_receipt(stored: &[u8], expected: &[u8]) -> bool {
    if stored == expected {
        return true;
    }
    let parsed = |bytes: &[u8]| serde_json::from_slice::<StoredReceipt>(bytes).ok();
    match (parsed(stored), parsed(expected)) {
        (Some(stored), Some(expected)) => stored == expected,
        (None, Some(expected)) => stored == expected.result.as_bytes(),
        _ => false,
    }
}

/// Returns the write that settles the reservation of a finished call, or no write if the call has no action key.
/// If `receipt` is set, the write stores the receipt for reuse by other calls. Otherwise the write releases the
/// key.
pub(crate) fn settle_reservation(
    slot: &Slot,
    operator: &Operator,
    key: Option<Hash>,
    receipt: Option<Vec<u8>>,
) -> Vec<ActionWrite> {
    let settle = |key| ActionWrite::Settle { operator: operator.clone(), key, slot: slot.clone(), receipt };
    key.map(settle).into_iter().collect()
}

/// Withdraws the receipt of a call until the reservation is settled again. Used while the call's effect is
/// being undone, or after the effect was found to differ from the record.
pub(crate) fn withdraw_receipt(durable: &Durable, slot: &Slot) -> Vec<ActionWrite> {
    let Some(row) = durable.rows.get(slot) else { return Vec::new() };
    let take = |key| ActionWrite::WithdrawReceipt { operator: row.operator.clone(), key, slot: slot.clone() };
    row.action_key.filter(|_| holds_reservation(durable, row)).map(take).into_iter().collect()
}

/// Restores the receipt of a call whose effect is not undone. The write also notifies the jobs that wait for the key.
pub(crate) fn restore_receipt(durable: &Durable, slot: &Slot) -> Vec<ActionWrite> {
    let answer = durable.answer(slot);
    let Some(Answer::Ok(output)) = answer.as_deref().map(|effect| &effect.answer) else { return Vec::new() };
    let row = durable.rows.get(slot).filter(|row| holds_reservation(durable, row));
    row.map(|row| settle_reservation(slot, &row.operator, row.action_key, Some(receipt(output)))).unwrap_or_default()
}

/// Releases the action key of a call whose effect no longer exists. The next call with this key performs the
/// action.
pub(crate) fn release_key(durable: &Durable, slot: &Slot) -> Vec<ActionWrite> {
    let row = durable.rows.get(slot).filter(|row| holds_reservation(durable, row));
    row.map(|row| settle_reservation(slot, &row.operator, row.action_key, None)).unwrap_or_default()
}

/// Returns true if the call itself holds the reservation of its action key. Returns false if the call reused a
/// receipt or was undone.
fn holds_reservation(durable: &Durable, row: &LedgerRow) -> bool {
    let job = &durable.job;
    let undone = job.compensations.get(&row.slot.compensation()).and_then(|compensation| compensation.end);
    job.calls.get(&row.slot).is_some_and(|call| job.took_effect(call)) && undone != Some(CompensationEnd::Done)
}

/// Determines the state of the action key. The calls of the job's other slots are checked first, then the
/// reservation. If the reservation was not looked up, the state is [`KeyState::NotLookedUp`].
pub(crate) fn key_state(
    durable: &Durable,
    slot: &Slot,
    operator: &Operator,
    key: Option<Hash>,
    args: &[u8],
) -> KeyState {
    let Some(key) = key else { return KeyState::Keyless };
    if let Some(standing) = own_key_state(durable, slot, operator, key, args) {
        return standing;
    }
    match durable.prefetched.actions.get(slot) {
        None => KeyState::NotLookedUp,
        Some(None) => KeyState::Free,
        Some(Some(row)) => key_state_of_row(durable, slot, key, row, args),
    }
}

fn key_state_of_row(durable: &Durable, slot: &Slot, key: Hash, row: &ActionRow, args: &[u8]) -> KeyState {
    if row.job_id == durable.job.header.job_id && row.slot == *slot {
        return KeyState::Free;
    }
    let holder = KeyHolder { action_key: key, job_id: row.job_id.clone(), slot: row.slot.clone() };
    if row.args_hash != args_hash(args) {
        return KeyState::OtherArgs(holder);
    }
    match &row.receipt {
        None => KeyState::InProgress(holder),
        Some(bytes) => {
            let text = || String::from_utf8_lossy(bytes).into_owned();
            let kept =
                serde_json::from_slice(bytes).unwrap_or_else(|_| StoredReceipt { result: text(), receipt: None });
            let StoredReceipt { result, receipt } = kept;
            KeyState::Performed(holder, Output { result, receipt, state_changes: vec![], usage: None })
        }
    }
}

/// Returns the key state if another slot of the same job holds the key. The rules are the same as for a holder in
/// another job. No lookup in the store is needed.
fn own_key_state(durable: &Durable, slot: &Slot, operator: &Operator, key: Hash, args: &[u8]) -> Option<KeyState> {
    let holds = |row: &&LedgerRow| {
        let call = durable.job.calls.get(&row.slot);
        let is_free = match row.state {
            RowState::FailedFinal => !call.is_some_and(crate::state::Call::is_lost),
            RowState::FailedDefinite => call.is_some_and(|call| call.reopened),
            _ => false,
        };
        row.slot != *slot && row.operator == *operator && row.action_key == Some(key) && row.world_changing && !is_free
    };
    let row = durable.rows.values().find(holds)?;
    let holder = KeyHolder { action_key: key, job_id: durable.job.header.job_id.clone(), slot: row.slot.clone() };
    if durable.args(&row.slot).is_some_and(|other| *other != *args) {
        return Some(KeyState::OtherArgs(holder));
    }
    let is_otherwise = durable.job.blocking_mismatches().any(|slot| *slot == row.slot);
    let is_over = durable.job.calls.get(&row.slot).is_some_and(|call| call.committed) && !is_otherwise;
    let answer = durable.answer(&row.slot).filter(|_| is_over);
    Some(match answer.as_deref().map(|effect| &effect.answer) {
        Some(Answer::Ok(Output { result, receipt, .. })) => {
            let (result, receipt) = (result.clone(), receipt.clone());
            KeyState::Performed(holder, Output { result, receipt, state_changes: vec![], usage: None })
        }
        _ => KeyState::InProgress(holder),
    })
}

/// Makes the key holder's receipt the final answer of this call. Nothing is executed.
pub(crate) fn reuse_receipt(
    durable: &Durable,
    invocation: &Invocation,
    holder: &KeyHolder,
    output: Output,
    context: &Context<'_>,
) -> Draft {
    let Invocation { slot, operator, .. } = invocation;
    let try_no = durable.job.calls.get(slot).map_or(0, |call| call.tries + 1);
    let provenance = Provenance::Reused;
    let (slot_of, time_us) = (slot.clone(), context.now_us);
    let effect = Effect { slot: slot_of, try_no, answer: Answer::Ok(output), provenance, time_us, spent: None };
    let (effects, effect) = store_once(durable, effect);
    let answer = durable.payload_ref(&label::answer(slot, try_no), &effect.to_bytes());
    let mut draft = Draft {
        events: vec![
            Body::ActionReused {
                slot: slot.clone(),
                action_key: holder.action_key,
                job_id: holder.job_id.clone(),
                from_slot: holder.slot.clone(),
                operator: operator.clone(),
                args: invocation.args_ref,
            },
            Body::ToolInvocationFinished {
                slot: slot.clone(),
                try_no,
                ok: true,
                answer,
                provenance,
                code: None,
                usage: None,
                spent: None,
                assumed_micro_usd: None,
                nondeterministic: false,
                refused: None,
            },
            Body::CommandCommitted { slot: slot.clone() },
        ],
        effects,
        ..Draft::default()
    };
    if !slot.is_step() && !durable.payloads.contains_key(&label::args(slot)) {
        draft.payloads.push(Payload { label: label::args(slot), bytes: invocation.args.clone() });
    }
    // Reusing a receipt never creates a row. A row that an earlier round of retries wrote for this call is updated
    // here.
    if let Some(row) = durable.rows.get(slot) {
        let row =
            LedgerRow { state: RowState::Committed, result_hash: Some(answer.hash), next_try_us: None, ..row.clone() };
        draft.ledger.push(replace_row(durable, row));
    }
    draft
}

/// Blocks the step until the key holder's call settles. Registers the job as waiting for the key.
pub(crate) fn wait_for_key_holder(slot: &Slot, operator: &Operator, holder: KeyHolder) -> Draft {
    let key = holder.action_key;
    let body = Body::StepBlocked {
        step_id: slot.step(),
        slot: slot.clone(),
        reason: Code::ActionInProgress,
        holder: Some(holder),
    };
    let wait = ActionWrite::Wait { operator: operator.clone(), key };
    // The event that blocks the step and the registration for the key must be in one transaction. A blocked step
    // without a registration would never be woken.
    Draft { events: vec![body], actions: vec![wait], kind: Record::FlushWhole, ..Draft::default() }
}

/// Returns the failure of a call whose action key is held by another call with other arguments.
pub(crate) fn other_args_failure(holder: &KeyHolder) -> Failure {
    let KeyHolder { job_id, slot, .. } = holder;
    Failure::new(
        Code::InvalidInput,
        format!(
            "the action was asked for with other arguments before, by job {job_id} at {slot}: its key names one action"
        ),
    )
}

/// Returns the effects to store and the effect that counts for this try. If a crash came between the write of
/// an effect and the write of its events, the stored effect counts and nothing more is stored.
pub(crate) fn store_once(durable: &Durable, effect: Effect) -> (Vec<Effect>, Effect) {
    match durable.effects.get(&(effect.slot.clone(), effect.try_no)) {
        Some(stored) => (vec![], (**stored).clone()),
        None => (vec![effect.clone()], effect),
    }
}

/// Returns the draft that settles the action keys at the end of the job. Releases the keys of calls that certainly
/// changed nothing and will not be retried. Restores the receipts of effects that were not undone.
pub(crate) fn release_keys_at_end(durable: &Durable) -> Draft {
    let mut draft = Draft { actions: restore_unsettled_receipts(durable), ..Draft::default() };
    for row in durable.rows.values().filter(|row| row.state == RowState::FailedDefinite) {
        let Some(call) = durable.job.calls.get(&row.slot) else { continue };
        if call.committed || call.open_try.is_some() {
            continue;
        }
        // The key of a reopened call was already released when the call failed.
        if !call.reopened {
            draft.actions.extend(settle_reservation(&row.slot, &row.operator, row.action_key, None));
        }
        if let Some(finished) = &call.finished {
            draft.events.push(Body::CommandCommitted { slot: row.slot.clone() });
            let result_hash = Some(finished.answer.hash);
            let row = LedgerRow { state: RowState::FailedFinal, result_hash, next_try_us: None, ..row.clone() };
            draft.ledger.push(replace_row(durable, row));
        }
    }
    draft
}

/// Restores withdrawn receipts of calls whose compensation failed or did not end.
fn restore_unsettled_receipts(durable: &Durable) -> Vec<ActionWrite> {
    let job = &durable.job;
    let is_undecided = |end: Option<CompensationEnd>| matches!(end, None | Some(CompensationEnd::Failed(_)));
    let is_lost = |slot: &Slot| job.calls.get(slot).is_some_and(crate::state::Call::is_lost);
    let left = job.compensations.iter().filter(|(slot, found)| is_undecided(found.end) && !is_lost(slot));
    left.filter_map(|(slot, _)| slot.compensated()).flat_map(|of| restore_receipt(durable, &of)).collect()
}

/// Returns the key state of a plan step. A key in the state [`KeyState::NotLookedUp`] is looked up before the
/// step's gate is requested.
pub(crate) fn planned_key_state(durable: &Durable, step: &plan::PlanStep) -> KeyState {
    let slot = Slot::of_step(&step.step_id);
    match (step_action_key(durable, &slot), durable.input(&step.step_id)) {
        (Ok(key), Some(args)) => key_state(durable, &slot, &step.name, key, &args),
        // The error of an invalid template or a missing input is reported when the step runs.
        _ => KeyState::Keyless,
    }
}
