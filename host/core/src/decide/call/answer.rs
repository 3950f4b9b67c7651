//! Interprets the answer of a try: final, to be retried, or in doubt.

use std::collections::BTreeSet;

use crate::decide::call::action;
use crate::decide::call::ledger_row::replace_row;
use crate::decide::call::stopped_step::{block_step, is_running, skip_call};
use crate::decide::call::tries::{is_keyed_retry, mark_caught_up, overrides, started_event};
use crate::decide::types::{Invocation, Try};
use crate::decide::{Context, TRIES_MAX, is_dry};
use crate::event::Body;
use crate::model::bounds;
use crate::model::effect::{Answer, Effect, Provenance, UnusableAnswer, Usage};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::manifest::PinnedOperator;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::rules::retry;
use crate::state::{Durable, label};
use crate::storage::{Draft, Payload, Record};

/// Common name of all models that a job does not count separately.
const OTHER_MODELS: &str = "other";

/// Returns the draft for the answer of a try. An effect that was read from the effect store must be passed unchanged.
/// The draft does not write such an effect again.
pub fn answered(
    durable: &Durable,
    invocation: &Invocation,
    started: &Try,
    effect: Effect,
    context: &Context<'_>,
) -> Draft {
    let changing = durable.job.pinned(&invocation.operator).is_some_and(PinnedOperator::is_world_changing);
    let effect = if changing { effect } else { first_answer(durable, &invocation.slot, started.try_no, effect) };
    match &effect.answer {
        Answer::Ok(_) => record_success(durable, invocation, started, effect, changing),
        Answer::Unknown { failure, kept } if changing => {
            record_doubt(durable, invocation, started, failure, kept.as_deref(), context)
        }
        // A keyed retry follows a try whose outcome is unknown. The answer "not applied" concerns the retry alone. The
        // earlier try may have changed the world, so the call stays in doubt.
        Answer::NotApplied(failure) if changing && is_keyed_retry(durable, &invocation.slot) => {
            record_doubt(durable, invocation, started, failure, None, context)
        }
        // From here on, an answer `unknown` is the answer of a read: an earlier arm handles world-changing calls. A
        // read changed nothing.
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. }
            if !changing && is_skipped_by_mode(durable, failure) =>
        {
            // Several concurrent calls of the step may get here. The first call skips the step, and the others write
            // nothing.
            if is_running(durable, &invocation.slot) { skip_call(invocation) } else { Draft::default() }
        }
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. }
            if waits_for_grant(durable, &invocation.slot, failure)
                || waits_for_machine(durable, invocation, started, failure) =>
        {
            let failure = failure.clone();
            block_for_change(durable, invocation, started, effect, &failure, changing, context)
        }
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => {
            let failure = failure.clone();
            record_failure(durable, invocation, started, effect, &failure, changing, context)
        }
    }
}

/// Returns true if a dry run skips the call because the code of the tool tried to send more than reads.
fn is_skipped_by_mode(durable: &Durable, failure: &Failure) -> bool {
    is_dry(durable.job.header.mode) && failure.code == Code::ModeForbids
}

/// Returns true if the step of the call waits until an administrator has extended the grants of the plugin. For a
/// compensating call, no step waits: if the call fails, its job parks. In a job that is cancelled, the failure is
/// final.
fn waits_for_grant(durable: &Durable, slot: &Slot, failure: &Failure) -> bool {
    failure.code == Code::GrantRequired
        && !slot.is_compensation()
        && crate::decide::call::tries::may_execute(durable, slot)
}

/// Returns true if the step of the call waits until the machine has the resource that all retries of the call lacked. A
/// lack of resources is no answer of the tool. Calls of models are excluded, like from retries: a continued job would
/// pay again.
fn waits_for_machine(durable: &Durable, invocation: &Invocation, started: &Try, failure: &Failure) -> bool {
    let slot = &invocation.slot;
    let spec = overrides(durable, slot, &invocation.operator);
    failure.code == Code::MachineFault
        && !slot.is_compensation()
        && !is_model(durable, invocation)
        && started.earlier_tries(durable, slot) >= retry::retries_allowed(failure.code, spec.as_ref())
        && crate::decide::call::tries::may_execute(durable, slot)
}

/// Records a try that changed nothing because a grant or a resource of the machine is missing, and blocks its step. The
/// next try follows when a person continues the job.
fn block_for_change(
    durable: &Durable,
    invocation: &Invocation,
    started: &Try,
    effect: Effect,
    failure: &Failure,
    changing: bool,
    context: &Context<'_>,
) -> Draft {
    let slot = &invocation.slot;
    let (mut draft, _) = finished(durable, invocation, started, &effect, false, Some(failure));
    let row = row(durable, invocation, started, RowState::FailedDefinite, changing);
    // The next try may start as soon as the step is no longer blocked.
    let next_try_us = Some(context.now_us);
    draft.ledger.push(replace_row(durable, LedgerRow { next_try_us, ..row }));
    // The events and the row must be in one transaction, as for a retry.
    draft.kind = Record::LingerWhole;
    // Another call of the same step may have stopped it already.
    if is_running(durable, slot) {
        draft.events.extend(block_step(slot, failure.code));
    }
    draft
}

/// Returns the answer that is already stored for this try of a read, or `effect` if no answer is stored.
///
/// The stored answer counts, because each try has only one answer. A worker may store the answer of a read and then
/// fail to write the events. The read is then executed again, and the new answer may differ from the stored answer.
fn first_answer(durable: &Durable, slot: &Slot, try_no: u32, effect: Effect) -> Effect {
    match durable.effects.get(&(slot.clone(), try_no)) {
        Some(stored) if stored.answer != effect.answer => mark_caught_up(stored),
        _ => effect,
    }
}

fn record_success(durable: &Durable, invocation: &Invocation, started: &Try, effect: Effect, changing: bool) -> Draft {
    let slot = &invocation.slot;
    let Answer::Ok(output) = &effect.answer else { unreachable!("only good answers come here") };
    let (mut draft, answer) = finished(durable, invocation, started, &effect, true, None);
    draft.events.extend(
        output.state_changes.iter().map(|change| Body::StateChanged { slot: slot.clone(), change: change.clone() }),
    );
    draft.events.push(Body::CommandCommitted { slot: slot.clone() });
    let row = row(durable, invocation, started, RowState::Committed, changing);
    draft.ledger.push(replace_row(durable, LedgerRow { result_hash: Some(answer), ..row }));
    let receipt = Some(action::receipt(output));
    draft.actions = action::settle_reservation(slot, &invocation.operator, invocation.action_key, receipt);
    // The answers of opaque calls and of models are flushed immediately, because repeating the call costs more
    // than a flush. Other answers may wait for the next barrier.
    let class = durable.job.pinned(&invocation.operator).map(|operator| operator.class);
    let is_opaque = class == Some(crate::model::manifest::RecoveryClass::Opaque) || slot.is_compensation();
    if is_opaque || is_model(durable, invocation) {
        draft.kind = Record::Flush;
    }
    draft
}

/// Returns true if the operator is a model. Each answer of a model costs money and may differ from the previous
/// one.
fn is_model(durable: &Durable, invocation: &Invocation) -> bool {
    let pinned = durable.job.pinned(&invocation.operator);
    pinned.is_some_and(|operator| operator.determinism == crate::model::manifest::Determinism::Stable)
}

fn record_failure(
    durable: &Durable,
    invocation: &Invocation,
    started: &Try,
    effect: Effect,
    failure: &Failure,
    changing: bool,
    context: &Context<'_>,
) -> Draft {
    let slot = &invocation.slot;
    let spec = overrides(durable, slot, &invocation.operator);
    let spec = spec.as_ref();
    let (mut draft, answer) = finished(durable, invocation, started, &effect, false, Some(failure));
    let nth = started.earlier_tries(durable, slot);
    // A model call that the machine ended is not retried: it may have been executed and paid for.
    let was_paid = failure.code.is_of_machine() && is_model(durable, invocation);
    let retries = if was_paid { 0 } else { retry::retries_allowed(failure.code, spec) };
    let retries_left = retries.saturating_sub(nth);
    let cancelled = !crate::decide::call::tries::may_execute(durable, slot);
    let row = row(durable, invocation, started, RowState::FailedDefinite, changing);
    if retries_left == 0 || cancelled {
        draft.events.push(Body::CommandCommitted { slot: slot.clone() });
        draft
            .ledger
            .push(replace_row(durable, LedgerRow { state: RowState::FailedFinal, result_hash: Some(answer), ..row }));
        draft.actions = action::settle_reservation(slot, &invocation.operator, invocation.action_key, None);
        return draft;
    }
    let delay_ms = retry::backoff_ms(nth, spec, failure.retry_after_ms, context.random as u32);
    let not_before_us = context.now_us + i64::from(delay_ms) * 1000;
    // The events and the row must be in one transaction. The events contain no final answer, so a later attempt could
    // not rebuild the row from the events.
    draft.kind = Record::LingerWhole;
    draft.events.push(Body::StepRetryScheduled {
        step_id: slot.step(),
        slot: slot.clone(),
        code: failure.code,
        not_before_us,
    });
    draft.ledger.push(replace_row(durable, LedgerRow { next_try_us: Some(not_before_us), ..row }));
    draft
}

/// Records that the try may have changed the world, and puts the call in doubt. Stores the retained part of an
/// unusable answer as a payload.
fn record_doubt(
    durable: &Durable,
    invocation: &Invocation,
    started: &Try,
    failure: &Failure,
    kept: Option<&str>,
    context: &Context<'_>,
) -> Draft {
    let slot = &invocation.slot;
    let Some(row) = durable.rows.get(slot) else {
        unreachable!("a world-changing try has its row before it starts");
    };
    let spec = overrides(durable, slot, &invocation.operator);
    let nth = started.earlier_tries(durable, slot);
    let delay_ms = retry::backoff_ms(nth, spec.as_ref(), failure.retry_after_ms, context.random as u32);
    // The next try also waits for the settling time of the tool.
    let settling_ms = durable.job.pinned(&row.operator).map_or(0, |operator| operator.resolution.settling_ms);
    // Adds the clock margin, because the worker's clock may be slow by up to this margin. Without the margin, a
    // correction of the clock before the next check would make the wait too short.
    let settling_ms = if settling_ms == 0 { 0 } else { settling_ms.saturating_add(context.clock_margin_ms) };
    let next_try_us = Some(context.now_us + i64::from(delay_ms.max(settling_ms)) * 1000);
    let label = label::unusable_answer(slot, started.try_no);
    let unusable = UnusableAnswer { failure: failure.clone(), kept: kept.map(str::to_owned) };
    let mut draft = Draft {
        ledger: vec![replace_row(durable, LedgerRow { state: RowState::Indeterminate, next_try_us, ..row.clone() })],
        kind: Record::Flush,
        ..Draft::default()
    };
    if !durable.payloads.contains_key(&label) {
        draft.payloads.push(Payload { label, bytes: unusable.to_bytes() });
    }
    draft
}

/// Returns the draft that records an answer. Adds the started event if the try had no barrier, and the effect
/// if it is not stored yet.
fn finished(
    durable: &Durable,
    invocation: &Invocation,
    started: &Try,
    effect: &Effect,
    ok: bool,
    failure: Option<&Failure>,
) -> (Draft, crate::model::ids::Hash) {
    let slot = &invocation.slot;
    let stored = durable.effects.get(&(slot.clone(), started.try_no));
    let bytes = stored.map_or_else(|| effect.to_bytes(), |stored| stored.to_bytes());
    let answer = durable.payload_ref(&label::answer(slot, started.try_no), &bytes);
    // If an answer is already stored for this try, the events refer to the stored answer and not to `effect`. If the
    // two provenances differ, the recorded provenance is `caught_up`.
    let provenance = match stored {
        Some(stored) if stored.provenance != effect.provenance => Provenance::CaughtUp,
        _ => effect.provenance,
    };
    let usage = match &effect.answer {
        Answer::Ok(output) => output.usage.clone().map(|usage| with_known_model(durable, usage)),
        _ => None,
    };
    // An answered call with a price is charged even if the answer reports no usage.
    let is_silent = matches!(effect.answer, Answer::Ok(_)) && usage.as_ref().is_none_or(Usage::is_empty);
    let assumed_micro_usd =
        invocation.max_cost_micro_usd.filter(|_| is_silent && effect.provenance != Provenance::Reused);
    let mut draft = Draft::default();
    let open = durable.job.calls.get(slot).is_some_and(|call| call.open_try == Some(started.try_no));
    if !open {
        draft.events.push(started_event(invocation, started));
    }
    draft.events.push(Body::ToolInvocationFinished {
        slot: slot.clone(),
        try_no: started.try_no,
        ok,
        answer,
        provenance,
        code: failure.map(|failure| failure.code),
        spent: effect.spent.filter(|_| usage.is_some() || assumed_micro_usd.is_some()),
        usage,
        assumed_micro_usd,
        nondeterministic: ok && is_model(durable, invocation),
        refused: None,
    });
    if stored.is_none() {
        draft.effects.push(effect.clone());
    }
    // The prompt of a model is stored with its answer, because no other run can reconstruct it.
    if is_model(durable, invocation) && !slot.is_step() && !durable.payloads.contains_key(&label::args(slot)) {
        draft.payloads.push(Payload { label: label::args(slot), bytes: invocation.args.clone() });
    }
    (draft, answer.hash)
}

/// Returns the usage with the name under which the job counts the model. The cost tables have a row for each name, and
/// only the tool states the name. After a maximum number of models, all further models share the name `OTHER_MODELS`.
fn with_known_model(durable: &Durable, usage: Usage) -> Usage {
    let Some(model) = usage.model.as_deref() else { return usage };
    let finished = durable.job.calls.values().filter_map(|call| call.finished.as_ref());
    let models: BTreeSet<&str> = finished.filter_map(|finished| finished.usage.as_ref()?.model.as_deref()).collect();
    match models.len() < bounds::MODELS || models.contains(model) {
        true => usage,
        false => Usage { model: Some(OTHER_MODELS.to_owned()), ..usage },
    }
}

fn row(durable: &Durable, invocation: &Invocation, started: &Try, state: RowState, changing: bool) -> LedgerRow {
    let old = durable.rows.get(&invocation.slot);
    LedgerRow {
        slot: invocation.slot.clone(),
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        state,
        attempt: durable.job.attempt,
        nonce: started.nonce,
        try_no: started.try_no,
        first_attempt: started.first_attempt,
        first_started_us: old.map_or(durable.job.last_us, |row| row.first_started_us),
        world_changing: changing,
        timeout_ms: started.timeout_ms,
        deadline_us: old.map_or(0, |row| row.deadline_us),
        next_try_us: None,
        result_hash: None,
        action_key: invocation.action_key,
    }
}

const _: () = assert!(TRIES_MAX >= 6, "five retries of RATE_LIMIT follow the first try");
