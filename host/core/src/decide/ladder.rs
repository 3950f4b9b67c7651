//! The resolution ladder (§5): what becomes of a call in doubt.

use crate::effect::{Answer, Effect, Output, Provenance};
use crate::error::{Code, Failure};
use crate::event::{Body, Verdict};
use crate::ids::Slot;
use crate::ledger::{Row, RowState};
use crate::manifest::{Class, OnIndeterminate, Pinned};
use crate::retry;
use crate::state::{Draft, Durable, label};
use crate::step::StepState;
use crate::storage::LedgerWrite;

use super::answer::{caught_up, overrides};
use super::barrier::start;
use super::call::{Invocation, Next};
use super::row::write;
use super::{Context, TRIES_MAX, Try, WAIT_IN_PLACE_MS, answered, blocked};

/// What the tool said when it was asked.
#[derive(Clone, Debug)]
pub enum ReconcileAnswer {
    /// It happened, with this result.
    Happened(Output),
    /// It certainly did not.
    DidNotHappen,
    /// It cannot tell yet; worth asking again after so many milliseconds.
    NotYet {
        /// Milliseconds from now.
        wait_ms: u32,
    },
}

/// How often a tool may say of one try that it cannot tell yet.
pub const NOT_YETS_MAX: u32 = 10;
/// Who gave a verdict that the tool's own word is, and why.
const RECONCILE: (&str, Option<String>) = ("reconcile", None);
/// After so many milliseconds from the first start of a call nobody asks any more: a day.
const ASKED_MS_MAX: u32 = 24 * 60 * 60 * 1_000;

/// The next rung for a row that is `INDETERMINATE`.
pub(super) fn rung(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> Next {
    let slot = &invocation.slot;
    let job = &durable.job;
    let (Some(row), Some(operator)) = (durable.rows.get(slot), job.pinned(&invocation.operator)) else {
        return Next::Drop;
    };
    let Some(open) = Try::open(durable, slot) else {
        return park(durable, slot);
    };
    if let Some(draft) = settled(durable, invocation, &open, context) {
        return Next::Write(draft);
    }
    let executes = goes_on(durable, slot);
    // What a plugin says of its calls, it says of them alone: not of undoing them by itself.
    let by_itself = job.compensations.get(slot).is_some_and(|compensation| compensation.own);
    let repeats =
        executes && !by_itself && keyed_in_window(operator, row, context) && open.nth(durable, slot) + 1 < TRIES_MAX;
    let asks = operator.reconcile && !by_itself && !invocation.asked_enough && may_ask(durable, row, context);
    // Nobody repeats or asks before the world has settled: it may say no just before it says yes.
    if (repeats || asks)
        && let Some(wait_ms) = not_yet(row, context.now_us)
    {
        return Next::WaitMs(wait_ms);
    }
    if repeats {
        return repeat(durable, invocation, operator, row, &open, context);
    }
    if asks {
        return Next::Reconcile { try_no: open.try_no, first_attempt: open.first_attempt };
    }
    match operator.on_indeterminate {
        OnIndeterminate::Park => park(durable, slot),
        OnIndeterminate::Fail => Next::Write(lost(durable, invocation, &open, "policy", None, context)),
    }
}

/// What is stored of the open try settles it: an answer that came late, or what its tool had said when it was
/// asked, which a crash parted from its events.
fn settled(durable: &Durable, invocation: &Invocation, open: &Try, context: &Context<'_>) -> Option<Draft> {
    let stored = stored_answer(durable, &invocation.slot, open)?;
    if stored.provenance != Provenance::Reconciled {
        return Some(answered(durable, invocation, open, caught_up(stored), context));
    }
    Some(match &stored.answer {
        Answer::NotApplied(_) => did_not_happen(durable, invocation, open, context),
        answer => happened(durable, invocation, open, answer.clone(), context),
    })
}

/// The answer that is stored of the open try, whoever put it there.
pub(super) fn stored_answer<'d>(durable: &'d Durable, slot: &Slot, open: &Try) -> Option<&'d Effect> {
    let effect = durable.effects.get(&(slot.clone(), open.try_no))?;
    (!matches!(effect.answer, Answer::Unknown { .. })).then_some(effect)
}

/// The tool was asked, and knows the call.
fn happened(durable: &Durable, invocation: &Invocation, open: &Try, answer: Answer, context: &Context<'_>) -> Draft {
    applied(durable, invocation, open, answer, Provenance::Reconciled, RECONCILE, context)
}

/// The tool was asked, and the call is not to come.
fn did_not_happen(durable: &Durable, invocation: &Invocation, open: &Try, context: &Context<'_>) -> Draft {
    let draft = not_applied(durable, invocation, open, Provenance::Reconciled, RECONCILE, context);
    try_again(durable, invocation, open, draft, context)
}

/// What to write about the tool's own word on the open try.
pub fn reconciled(durable: &Durable, invocation: &Invocation, said: ReconcileAnswer, context: &Context<'_>) -> Next {
    let slot = &invocation.slot;
    let Some(open) = Try::open(durable, slot) else {
        return Next::Drop;
    };
    // While it was asked, its answer may have come.
    if let Some(draft) = settled(durable, invocation, &open, context) {
        return Next::Write(draft);
    }
    Next::Write(match said {
        ReconcileAnswer::NotYet { wait_ms } => return later(durable, invocation, wait_ms, context),
        ReconcileAnswer::Happened(output) => happened(durable, invocation, &open, Answer::Ok(output), context),
        ReconcileAnswer::DidNotHappen => did_not_happen(durable, invocation, &open, context),
    })
}

/// Whether asking is of use still.
fn may_ask(durable: &Durable, row: &Row, context: &Context<'_>) -> bool {
    let not_yets = durable.job.calls.get(&row.slot).map_or(0, |call| call.not_yets);
    not_yets < NOT_YETS_MAX && context.now_us < row.first_started_us + i64::from(ASKED_MS_MAX) * 1000
}

/// The call is asked about again at a time that is an event: a restart neither forgets nor hastens
/// it, and the job waits for it like for any retry. Where no step waits for the call, the asker does.
fn later(durable: &Durable, invocation: &Invocation, wait_ms: u32, context: &Context<'_>) -> Next {
    let slot = &invocation.slot;
    let Some(row) = durable.rows.get(slot).filter(|_| !slot.is_compensation() && goes_on(durable, slot)) else {
        return Next::WaitMs(wait_ms);
    };
    let wait_ms = wait_ms.clamp(1, ASKED_MS_MAX);
    let not_before_us = context.now_us + i64::from(wait_ms) * 1000;
    let code = Code::IndeterminateEffect;
    let scheduled = Body::StepRetryScheduled { step_id: slot.step(), slot: slot.clone(), code, not_before_us };
    let ledger = vec![write(durable, Row { next_try_us: Some(not_before_us), ..row.clone() })];
    let mut draft = Draft { events: vec![scheduled], ledger, ..Draft::default() };
    // A plan step waits outside by itself; a step plugin keeps short waits inside.
    if slot.call_number().is_none() || wait_ms <= WAIT_IN_PLACE_MS {
        return Next::Write(draft);
    }
    draft.events.push(blocked(&slot.step(), slot, Code::RetryScheduled));
    Next::Block(draft)
}

/// It happened: the verdict, and the answer as if it had come.
pub(super) fn applied(
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
    let verdict = resolved(slot, open.try_no, Verdict::Applied, by, reason);
    let verdict = Draft { events: vec![verdict], flush_now: true, ..Draft::default() };
    verdict.and(answered(durable, invocation, open, effect, context))
}

/// It did not happen: the try is claimed, and another may follow under the same key.
pub(super) fn not_applied(
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
        events: vec![resolved(slot, open.try_no, Verdict::NotApplied, by, reason)],
        ledger: vec![write(
            durable,
            Row { state: RowState::FailedDefinite, next_try_us: Some(context.now_us), ..row.clone() },
        )],
        effects: claim(durable, slot, open, Answer::NotApplied(failure), provenance, context),
        flush_now: true,
        // The verdict ends the try, and no final answer tells what the row is to be after a crash between them.
        whole: true,
        ..Draft::default()
    }
}

/// What did not happen is tried again after a backoff, like any failure that changed nothing. In
/// a job that was given up nothing is.
fn try_again(durable: &Durable, invocation: &Invocation, open: &Try, mut draft: Draft, context: &Context<'_>) -> Draft {
    let slot = &invocation.slot;
    if !goes_on(durable, slot) {
        return draft;
    }
    let spec = overrides(durable, slot, &invocation.operator);
    let delay_ms = retry::backoff_ms(open.nth(durable, slot), spec.as_ref(), None, context.random as u32);
    let not_before_us = context.now_us + i64::from(delay_ms) * 1000;
    let code = Code::InvocationLost;
    draft.events.push(Body::StepRetryScheduled { step_id: slot.step(), slot: slot.clone(), code, not_before_us });
    for write in &mut draft.ledger {
        let (LedgerWrite::Insert(row) | LedgerWrite::Update { row, .. }) = write;
        row.next_try_us = Some(not_before_us);
    }
    draft
}

/// Nobody will find out: `INVOCATION_LOST` is the final answer.
pub(super) fn lost(
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
        provenance: Provenance::Operator,
        time_us: context.now_us,
        spent: None,
    };
    // The very verdict may have been put away before its events could be (staged commit).
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
        provenance: Provenance::Operator,
        code: Some(Code::InvocationLost),
        usage: None,
        spent: None,
        assumed_micro_usd: None,
        nondeterministic: false,
        refused: None,
    };
    // No action key is settled: nobody else may perform an action that may have happened.
    Draft {
        events: vec![
            resolved(slot, open.try_no, Verdict::Lost, by, reason),
            finished,
            Body::CommandCommitted { slot: slot.clone() },
        ],
        ledger: vec![write(
            durable,
            // What the world takes to settle it takes all the same: somebody may yet find out what became of the call.
            Row { state: RowState::FailedFinal, result_hash: Some(answer.hash), ..row.clone() },
        )],
        effects,
        flush_now: true,
        ..Draft::default()
    }
}

fn keyed_in_window(operator: &Pinned, row: &Row, context: &Context<'_>) -> bool {
    let window_us = i64::from(operator.resolution.idempotent_by_key_seconds) * 1_000_000;
    let needed_us = i64::from(row.timeout_ms + context.clock_margin_ms) * 1000;
    operator.class == Class::Keyed && row.first_started_us + window_us > context.now_us + needed_us
}

pub(super) fn not_yet(row: &Row, now_us: i64) -> Option<u32> {
    let left_us = row.next_try_us? - now_us;
    (left_us > 0).then(|| u32::try_from(left_us / 1000 + 1).unwrap_or(u32::MAX))
}

fn repeat(
    durable: &Durable,
    invocation: &Invocation,
    operator: &Pinned,
    row: &Row,
    open: &Try,
    context: &Context<'_>,
) -> Next {
    let slot = &invocation.slot;
    let (mut draft, started) = start(durable, invocation, operator, Provenance::KeyedRetry, context);
    let failure = Failure::new(Code::InvocationLost, "repeated under its external key");
    draft.events.insert(0, resolved(slot, open.try_no, Verdict::Repeat, "key", None));
    draft.effects =
        claim(durable, slot, open, Answer::Unknown { failure, kept: None }, Provenance::KeyedRetry, context);
    debug_assert_eq!(row.first_attempt, started.first_attempt, "the external key never changes");
    Next::Execute { draft, started }
}

/// Takes the open try's place in the effect store, so that only one of verdict and late answer wins.
fn claim(
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

/// Whether the call may be executed at all: in a job that is given up, only what undoes one may.
pub(super) fn goes_on(durable: &Durable, slot: &Slot) -> bool {
    let job = &durable.job;
    if slot.is_compensation() { job.compensates() } else { !job.is_given_up() }
}

fn park(durable: &Durable, slot: &Slot) -> Next {
    let is_over = durable.job.step(&slot.step()).is_some_and(|step| step.state.is_final());
    if slot.is_compensation() || is_over {
        // No step waits for it: the verdict says that the ladder has no further rung.
        let open = durable.job.calls.get(slot).and_then(|call| call.open_try);
        let events = open.map(|try_no| resolved(slot, try_no, Verdict::Unknown, "ladder", None));
        return Next::Block(Draft { events: events.into_iter().collect(), flush_now: true, ..Draft::default() });
    }
    let state = durable.job.step(&slot.step()).map(|step| step.state);
    // In a job that is given up, a call is decided while its step waits for a retry or for another call.
    let waits = matches!(state, Some(StepState::FailedRetryable | StepState::Blocked));
    let unblocked = waits.then(|| Body::StepUnblocked { step_id: slot.step() });
    let body = blocked(&slot.step(), slot, Code::IndeterminateEffect);
    let events = unblocked.into_iter().chain([body]).collect();
    Next::Block(Draft { events, flush_now: true, ..Draft::default() })
}

/// The verdict event that ends an open try.
fn resolved(slot: &Slot, try_no: u32, verdict: Verdict, by: &str, reason: Option<String>) -> Body {
    Body::InvocationResolved { slot: slot.clone(), try_no, verdict, by: by.to_owned(), reason }
}
