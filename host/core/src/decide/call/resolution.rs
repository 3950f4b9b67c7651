//! Resolution of a call in doubt (§5): the steps that find out or decide the outcome of the call.

use crate::decide::call::barrier::start;
use crate::decide::call::ledger_row::replace_row;
use crate::decide::call::tries::{mark_caught_up, may_execute, overrides};
use crate::decide::types::{Invocation, NextAction};
use crate::decide::{Context, TRIES_MAX, Try, WAIT_IN_PLACE_MS, answered, blocked};
use crate::event::{Body, Verdict};
use crate::model::effect::{Answer, Effect, Output, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::manifest::{OnIndeterminate, PinnedOperator, RecoveryClass};
use crate::model::step::StepState;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::rules::retry;
use crate::state::{Durable, label};
use crate::storage::{Draft, LedgerWrite, Record};

/// Answer of a tool to a reconcile request.
#[derive(Clone, Debug)]
pub enum ReconcileAnswer {
    /// The call happened, with this result.
    Happened(Output),
    /// The call certainly did not happen.
    DidNotHappen,
    /// The tool cannot tell yet and should be asked again after `wait_ms`.
    NotYet {
        /// Milliseconds from now.
        wait_ms: u32,
    },
}

/// Maximum number of not-yet answers to reconcile requests for one try.
pub const NOT_YETS_MAX: u32 = 10;
/// Author and reason of a verdict that comes from the tool's reconcile answer.
const RECONCILE: (&str, Option<String>) = ("reconcile", None);
/// Length of the period in which reconcile requests about a call are sent, in milliseconds: one day. The period begins
/// with the first start of the call.
const RECONCILE_MS_MAX: u32 = 24 * 60 * 60 * 1_000;

/// Returns the next resolution step for a row that is `INDETERMINATE`.
pub(crate) fn next_resolution_step(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> NextAction {
    let slot = &invocation.slot;
    let job = &durable.job;
    let (Some(row), Some(operator)) = (durable.rows.get(slot), job.pinned(&invocation.operator)) else {
        return NextAction::Abandon;
    };
    let Some(open) = Try::open(durable, slot) else {
        return park_call(durable, slot);
    };
    if let Some(draft) = resolve_from_stored_effect(durable, invocation, &open, context) {
        return NextAction::Write(draft);
    }
    let executes = may_execute(durable, slot);
    // The plugin's `compensate` export is always opaque, whatever the class of the plugin.
    let by_itself = job.compensations.get(slot).is_some_and(|compensation| compensation.is_self_undo);
    let repeats = executes
        && !by_itself
        && is_in_key_window(operator, row, context)
        && open.earlier_tries(durable, slot) + 1 < TRIES_MAX;
    let asks =
        operator.reconcile && !by_itself && !invocation.reconcile_exhausted && may_reconcile(durable, row, context);
    // Before a reconcile request or a repeat, wait for the settling time. Otherwise, a request still in transit could
    // take effect after the tool has answered that the call did not happen.
    if (repeats || asks)
        && let Some(wait_ms) = remaining_wait_ms(row, context.now_us)
    {
        return NextAction::WaitMs(wait_ms);
    }
    if repeats {
        return repeat_keyed_call(durable, invocation, operator, row, &open, context);
    }
    if asks {
        return NextAction::Reconcile { try_no: open.try_no, first_attempt: open.first_attempt };
    }
    match operator.on_indeterminate {
        OnIndeterminate::Park => park_call(durable, slot),
        OnIndeterminate::Fail => NextAction::Write(mark_lost(durable, invocation, &open, "policy", None, context)),
    }
}

/// Resolves the call from the stored answer of the open try. Returns `None` if no answer, or only an unknown answer, is
/// stored. The stored answer is a late answer, or a reconcile answer whose events are missing after a crash.
fn resolve_from_stored_effect(
    durable: &Durable,
    invocation: &Invocation,
    open: &Try,
    context: &Context<'_>,
) -> Option<Draft> {
    let stored = stored_answer(durable, &invocation.slot, open)?;
    if stored.provenance != Provenance::Reconciled {
        return Some(answered(durable, invocation, open, mark_caught_up(stored), context));
    }
    Some(match &stored.answer {
        Answer::NotApplied(_) => reconciled_as_not_applied(durable, invocation, open, context),
        answer => reconciled_as_applied(durable, invocation, open, answer.clone(), context),
    })
}

/// Returns the stored answer of the open try. Any worker may have stored it.
pub(crate) fn stored_answer<'d>(durable: &'d Durable, slot: &Slot, open: &Try) -> Option<&'d Effect> {
    let effect = durable.effects.get(&(slot.clone(), open.try_no))?;
    (!matches!(effect.answer, Answer::Unknown { .. })).then_some(effect)
}

/// Resolves the call after the tool confirmed that the call happened.
fn reconciled_as_applied(
    durable: &Durable,
    invocation: &Invocation,
    open: &Try,
    answer: Answer,
    context: &Context<'_>,
) -> Draft {
    applied(durable, invocation, open, answer, Provenance::Reconciled, RECONCILE, context)
}

/// Resolves the call after the tool stated that the call did not happen.
fn reconciled_as_not_applied(durable: &Durable, invocation: &Invocation, open: &Try, context: &Context<'_>) -> Draft {
    let draft = not_applied(durable, invocation, open, Provenance::Reconciled, RECONCILE, context);
    schedule_retry(durable, invocation, open, draft, context)
}

/// Returns the next action for a reconcile answer about the open try.
pub fn reconciled(
    durable: &Durable,
    invocation: &Invocation,
    reconcile_answer: ReconcileAnswer,
    context: &Context<'_>,
) -> NextAction {
    let slot = &invocation.slot;
    let Some(open) = Try::open(durable, slot) else {
        return NextAction::Abandon;
    };
    // The answer of the open try may have been stored during the reconcile request. The stored answer takes precedence.
    if let Some(draft) = resolve_from_stored_effect(durable, invocation, &open, context) {
        return NextAction::Write(draft);
    }
    NextAction::Write(match reconcile_answer {
        ReconcileAnswer::NotYet { wait_ms } => return schedule_reconcile(durable, invocation, wait_ms, context),
        ReconcileAnswer::Happened(output) => {
            reconciled_as_applied(durable, invocation, &open, Answer::Ok(output), context)
        }
        ReconcileAnswer::DidNotHappen => reconciled_as_not_applied(durable, invocation, &open, context),
    })
}

/// Returns true if another reconcile request is still useful.
fn may_reconcile(durable: &Durable, row: &LedgerRow, context: &Context<'_>) -> bool {
    let not_yets = durable.job.calls.get(&row.slot).map_or(0, |call| call.not_yet_answers);
    not_yets < NOT_YETS_MAX && context.now_us < row.first_started_us + i64::from(RECONCILE_MS_MAX) * 1000
}

/// Schedules the next reconcile request. An event records the time of the request, so a restart neither loses the
/// request nor sends it early. The job waits for this time as it waits for a retry.
///
/// For a compensating call or a call of an aborting job, no event is written. The worker waits in place and then sends
/// the request.
fn schedule_reconcile(durable: &Durable, invocation: &Invocation, wait_ms: u32, context: &Context<'_>) -> NextAction {
    let slot = &invocation.slot;
    let Some(row) = durable.rows.get(slot).filter(|_| !slot.is_compensation() && may_execute(durable, slot)) else {
        return NextAction::WaitMs(wait_ms);
    };
    let wait_ms = wait_ms.clamp(1, RECONCILE_MS_MAX);
    let not_before_us = context.now_us + i64::from(wait_ms) * 1000;
    let code = Code::IndeterminateEffect;
    let scheduled = Body::StepRetryScheduled { step_id: slot.step(), slot: slot.clone(), code, not_before_us };
    let ledger = vec![replace_row(durable, LedgerRow { next_try_us: Some(not_before_us), ..row.clone() })];
    let mut draft = Draft { events: vec![scheduled], ledger, ..Draft::default() };
    // If the plan step itself is the call, the scheduled retry ends the run of the step. A step plugin keeps running
    // during a short wait, and is blocked during a longer wait.
    if slot.call_number().is_none() || wait_ms <= WAIT_IN_PLACE_MS {
        return NextAction::Write(draft);
    }
    draft.events.push(blocked(&slot.step(), slot, Code::RetryScheduled));
    NextAction::Block(draft)
}

/// Records the verdict that the call happened, together with its answer.
pub(crate) fn applied(
    durable: &Durable,
    invocation: &Invocation,
    open: &Try,
    answer: Answer,
    provenance: Provenance,
    (by, reason): (&str, Option<String>),
    context: &Context<'_>,
) -> Draft {
    let slot = &invocation.slot;
    let effect =
        Effect { slot: slot.clone(), try_no: open.try_no, answer, provenance, time_us: context.now_us, spent: None };
    let verdict = verdict_event(slot, open.try_no, Verdict::Applied, by, reason);
    let verdict = Draft { events: vec![verdict], kind: Record::Flush, ..Draft::default() };
    verdict.merge(answered(durable, invocation, open, effect, context))
}

/// Records the verdict that the call did not happen. The verdict closes the try. A next try may follow under the same
/// key.
pub(crate) fn not_applied(
    durable: &Durable,
    invocation: &Invocation,
    open: &Try,
    provenance: Provenance,
    (by, reason): (&str, Option<String>),
    context: &Context<'_>,
) -> Draft {
    let slot = &invocation.slot;
    let row = durable.rows.get(slot).expect("a call in doubt has its row");
    let failure = Failure::new(Code::InvocationLost, "the call did not take effect");
    Draft {
        events: vec![verdict_event(slot, open.try_no, Verdict::NotApplied, by, reason)],
        ledger: vec![replace_row(
            durable,
            LedgerRow { state: RowState::FailedDefinite, next_try_us: Some(context.now_us), ..row.clone() },
        )],
        effects: close_open_try(durable, slot, open, Answer::NotApplied(failure), provenance, context),
        // Write the verdict and the row in one transaction. A later attempt could not rebuild the row from the events,
        // because the events contain no final answer.
        kind: Record::FlushWhole,
        ..Draft::default()
    }
}

/// Schedules a retry with backoff after the verdict "not applied". An aborting job retries nothing.
fn schedule_retry(
    durable: &Durable,
    invocation: &Invocation,
    open: &Try,
    mut draft: Draft,
    context: &Context<'_>,
) -> Draft {
    let slot = &invocation.slot;
    if !may_execute(durable, slot) {
        return draft;
    }
    let spec = overrides(durable, slot, &invocation.operator);
    let delay_ms = retry::backoff_ms(open.earlier_tries(durable, slot), spec.as_ref(), None, context.random as u32);
    let not_before_us = context.now_us + i64::from(delay_ms) * 1000;
    let code = Code::InvocationLost;
    draft.events.push(Body::StepRetryScheduled { step_id: slot.step(), slot: slot.clone(), code, not_before_us });
    for write in &mut draft.ledger {
        let (LedgerWrite::Insert(row) | LedgerWrite::Update { row, .. }) = write;
        row.next_try_us = Some(not_before_us);
    }
    draft
}

/// Records that the outcome will stay unknown. `INVOCATION_LOST` becomes the final answer.
pub(crate) fn mark_lost(
    durable: &Durable,
    invocation: &Invocation,
    open: &Try,
    by: &str,
    reason: Option<String>,
    context: &Context<'_>,
) -> Draft {
    let slot = &invocation.slot;
    let row = durable.rows.get(slot).expect("a call in doubt has its row");
    let failure = Failure::new(Code::InvocationLost, "whether the call happened could not be found out");
    let effect = Effect {
        slot: slot.clone(),
        try_no: open.try_no,
        answer: Answer::Unknown { failure, kept: None },
        provenance: Provenance::PersonDecision,
        time_us: context.now_us,
        spent: None,
    };
    // In staged commit, a crash may have left the effect of this verdict without the events of this verdict.
    let stored = durable.effects.get(&(slot.clone(), open.try_no));
    let stored = stored.filter(|stored| stored.provenance == effect.provenance && stored.answer == effect.answer);
    let (effects, effect) =
        stored.map_or_else(|| (vec![effect.clone()], effect.clone()), |old| (vec![], (**old).clone()));
    let answer = durable.payload_ref(&label::answer(slot, open.try_no), &effect.to_bytes());
    let finished = Body::ToolInvocationFinished {
        slot: slot.clone(),
        try_no: open.try_no,
        ok: false,
        answer,
        provenance: Provenance::PersonDecision,
        code: Some(Code::InvocationLost),
        usage: None,
        spent: None,
        assumed_micro_usd: None,
        nondeterministic: false,
        refused: None,
    };
    // The action key stays reserved, because the action may have happened and no other call may perform it.
    Draft {
        events: vec![
            verdict_event(slot, open.try_no, Verdict::Lost, by, reason),
            finished,
            Body::CommandCommitted { slot: slot.clone() },
        ],
        ledger: vec![replace_row(
            durable,
            // Keep `next_try_us`. A person may give a verdict later, and the settling time still applies to that
            // verdict.
            LedgerRow { state: RowState::FailedFinal, result_hash: Some(answer.hash), ..row.clone() },
        )],
        effects,
        kind: Record::Flush,
        ..Draft::default()
    }
}

fn is_in_key_window(operator: &PinnedOperator, row: &LedgerRow, context: &Context<'_>) -> bool {
    let window_us = i64::from(operator.resolution.idempotent_by_key_seconds) * 1_000_000;
    let needed_us = i64::from(row.timeout_ms + context.clock_margin_ms) * 1000;
    operator.class == RecoveryClass::Keyed && row.first_started_us + window_us > context.now_us + needed_us
}

pub(crate) fn remaining_wait_ms(row: &LedgerRow, now_us: i64) -> Option<u32> {
    let left_us = row.next_try_us? - now_us;
    (left_us > 0).then(|| u32::try_from(left_us / 1000 + 1).unwrap_or(u32::MAX))
}

fn repeat_keyed_call(
    durable: &Durable,
    invocation: &Invocation,
    operator: &PinnedOperator,
    row: &LedgerRow,
    open: &Try,
    context: &Context<'_>,
) -> NextAction {
    let slot = &invocation.slot;
    let (mut barrier, started) = start(durable, invocation, operator, Provenance::KeyedRetry, context);
    let failure = Failure::new(Code::InvocationLost, "repeated under its external key");
    if let Some(barrier) = &mut barrier {
        barrier.events.insert(0, verdict_event(slot, open.try_no, Verdict::Repeat, "key", None));
        let answer = Answer::Unknown { failure, kept: None };
        barrier.effects = close_open_try(durable, slot, open, answer, Provenance::KeyedRetry, context);
    }
    debug_assert_eq!(row.first_attempt, started.first_attempt, "the external key never changes");
    NextAction::Execute { barrier, started }
}

/// Returns the effect that records the verdict as the answer of the open try. Returns nothing if the try already has
/// an effect, such as a late answer, because a try has only one effect.
fn close_open_try(
    durable: &Durable,
    slot: &Slot,
    open: &Try,
    answer: Answer,
    provenance: Provenance,
    context: &Context<'_>,
) -> Vec<Effect> {
    if durable.effects.contains_key(&(slot.clone(), open.try_no)) {
        return Vec::new();
    }
    vec![Effect { slot: slot.clone(), try_no: open.try_no, answer, provenance, time_us: context.now_us, spent: None }]
}

fn park_call(durable: &Durable, slot: &Slot) -> NextAction {
    let state = durable.job.step(&slot.step()).map(|step| step.state);
    let events = if slot.is_compensation() || state.is_some_and(StepState::is_final) {
        // No step waits for this call, because it is a compensating call or its step is over. Therefore no step is
        // blocked. The verdict `unknown` records that no automatic resolution step is left.
        let open = durable.job.calls.get(slot).and_then(|call| call.open_try);
        open.map(|try_no| verdict_event(slot, try_no, Verdict::Unknown, "ladder", None)).into_iter().collect()
    } else {
        // In an aborting job, the step may still wait for a retry or be blocked on another call. The step is
        // unblocked first, because a step that waits cannot be blocked again.
        let waits = matches!(state, Some(StepState::FailedRetryable | StepState::Blocked));
        let unblocked = waits.then(|| Body::StepUnblocked { step_id: slot.step() });
        let body = blocked(&slot.step(), slot, Code::IndeterminateEffect);
        unblocked.into_iter().chain([body]).collect()
    };
    NextAction::Block(Draft { events, kind: Record::Flush, ..Draft::default() })
}

/// Returns the verdict event for a try.
fn verdict_event(slot: &Slot, try_no: u32, verdict: Verdict, by: &str, reason: Option<String>) -> Body {
    Body::InvocationResolved { slot: slot.clone(), try_no, verdict, by: by.to_owned(), reason }
}
