//! What happens next to one invocation: the ledger's decision, put into drafts and actions.

use std::sync::Arc;

use crate::effect::{Answer, Effect, Provenance};
use crate::error::{Code, Failure};
use crate::event::{Body, PayloadRef, Refused, Verdict, WouldCall};
use crate::ids::{Hash, Operator, Slot};
use crate::ledger::{self, Caller, Decision, Found, Quiescence, Rejection, Row, RowState};
use crate::manifest::{Determinism, Pinned, PluginKind};
use crate::plan;
use crate::policy;
use crate::replay::Divergence;
use crate::state::{Call, Draft, Durable, label};
use crate::storage::{ActionWrite, LedgerWrite, Payload};

use super::action::{self, Standing};
use super::asking::is_gated;
use super::gates::{self, ask, gate_hash};
use super::{Context, TRIES_MAX, WAIT_IN_PLACE_MS, blocked, budget, is_dry, ladder};

/// One invocation, as it is asked for now.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Where it stands.
    pub slot: Slot,
    /// What is called.
    pub operator: Operator,
    /// Canonical arguments.
    pub args: Vec<u8>,
    /// Their salted hash.
    pub args_ref: PayloadRef,
    /// The action key, where there is one.
    pub action_key: Option<Hash>,
    /// Time one try may take, in milliseconds.
    pub timeout_ms: u32,
    /// Why the arguments cannot be taken at all.
    pub unfit: Option<Failure>,
    /// The nonce of the try that the caller has under way.
    pub nonce: Option<u64>,
    /// Whether the owner of an open try is at rest, once somebody looked.
    pub quiescence: Option<Quiescence>,
    /// Whether the tool has been asked as often as is any use.
    pub asked_enough: bool,
    /// The most that it can cost, where that is known.
    pub most_micro_usd: Option<u64>,
    /// The most that other calls of the job under way may still cost.
    pub reserved_micro_usd: u64,
    /// What the tenant's jobs have spent this month, once somebody looked.
    pub month_micro_usd: Option<u64>,
}

/// What to do next.
#[derive(Clone, Debug)]
pub enum Next {
    /// The answer is final: inject it.
    Answer(Result<String, Failure>),
    /// Write this, then ask again.
    Write(Draft),
    /// Write this (durably if it acquires), then execute, then hand the answer to [`super::answered`].
    Execute {
        /// The barrier; empty for calls that change nothing.
        draft: Draft,
        /// The try that is started.
        started: super::Try,
    },
    /// Ask the tool whether the open try happened.
    Reconcile {
        /// The open try.
        try_no: u32,
        /// The attempt that makes the external key.
        first_attempt: u32,
    },
    /// Find out whether the owner of the open try is at rest, then ask again.
    Look,
    /// Find out who holds the invocation's action key, then ask again.
    LookAction,
    /// Find out what the tenant has spent this month, then ask again.
    LookSpent,
    /// Ask again after so many milliseconds.
    WaitMs(u32),
    /// Write this and drop the try: the step waits for something.
    Block(Draft),
    /// Stop the old call of this worker, then ask again.
    StopOldCall,
    /// The code no longer does what the log says.
    Diverge(Divergence),
    /// Drop the try: the job is cancelled or belongs to another attempt.
    Drop,
}

/// What happens next to the invocation.
pub fn next(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> Next {
    let job = &durable.job;
    let slot = &invocation.slot;
    let Some(planned) = job.plan.step(&slot.step()) else {
        return Next::Drop;
    };
    let row = durable.rows.get(slot);
    let call = job.calls.get(slot);
    let mut over_budget = None;
    let forbidden = match forbidden(durable, planned, invocation) {
        Some(failure) => Some(failure),
        None => match budget::check(durable, invocation, context) {
            budget::Verdict::Within => None,
            budget::Verdict::Ask => return Next::LookSpent,
            budget::Verdict::Exceeded(event, failure) => {
                over_budget = Some(event);
                Some(failure)
            }
        },
    };
    let caller = Caller {
        attempt: job.attempt,
        current_attempt: job.attempt,
        nonce: invocation.nonce,
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        action_key: invocation.action_key,
        now_us: context.now_us,
    };
    let standing = action::standing(durable, slot, &invocation.operator, invocation.action_key, &invocation.args);
    let open_effect = call.and_then(|call| call.open_try).and_then(|n| durable.effects.get(&(slot.clone(), n)));
    let found = Found {
        row,
        event: call.map(|call| (&call.operator, call.args.hash, call.action_key)),
        committed_event: call.is_some_and(|call| call.committed),
        open_effect: open_effect.is_some(),
        any_world_effect: stray_effect(durable, invocation),
        quiescence: invocation.quiescence.unwrap_or(Quiescence::Quiescent),
        forbidden: forbidden.as_ref().map(|failure| failure.code),
        owns_action_key: matches!(standing, Standing::Keyless | Standing::Unseen | Standing::Free),
    };
    match ledger::decide(&caller, &found) {
        Decision::Rejected(Rejection::Mismatch) => Next::Diverge(mismatch(durable, invocation)),
        Decision::Rejected(Rejection::Forbidden(Code::Cancelled)) => Next::Drop,
        Decision::Rejected(Rejection::Forbidden(code)) => {
            let failure = forbidden.unwrap_or_else(|| Failure::new(code, "forbidden"));
            let mut draft = refuse(durable, invocation, failure, context);
            if let Some(event) = over_budget {
                // Durable before anybody hears of it: a raised budget changes nothing any more.
                draft.events.insert(0, *event);
                draft.flush_now = true;
            }
            Next::Write(draft)
        }
        Decision::Rejected(Rejection::Stale) => Next::Drop,
        Decision::Rejected(Rejection::ActionInProgress) => held(durable, invocation, standing, context),
        Decision::ReturnRecordedResult => recorded(durable, slot),
        Decision::CatchUp => {
            let effect = open_effect.expect("catch-up is decided only with an effect");
            let started = super::Try::open(durable, slot).expect("catch-up is decided only with an open try");
            Next::Write(super::answered(durable, invocation, &started, caught_up(effect), context))
        }
        Decision::Ladder => ladder::rung(durable, invocation, context),
        Decision::Continue => go_on(durable, invocation, context),
        // Nobody is executing it any more: the worker drops its calls before it asks again.
        Decision::StopOldCall => Next::StopOldCall,
        Decision::WaitOtherWorker { wait_ms } => Next::WaitMs(wait_ms),
        Decision::Indeterminate { .. } if row.is_some() && invocation.quiescence.is_none() => Next::Look,
        Decision::Indeterminate { .. } => Next::Write(indeterminate(durable, invocation, context)),
        Decision::WaitUntil(time_us) => backoff(slot, time_us, context),
        Decision::FailFinal => Next::Write(fail_final(durable, slot)),
        Decision::AllowExecute => allowed(durable, planned, invocation, &standing, context),
    }
}

/// Another slot, of this job or another, holds the action key: its receipt is the answer, or
/// the step waits for it.
fn held(durable: &Durable, invocation: &Invocation, standing: Standing, context: &Context<'_>) -> Next {
    match standing {
        Standing::Done(holder, output) => Next::Write(action::reused(durable, invocation, &holder, output, context)),
        Standing::Open(holder) => Next::Block(action::wait(&invocation.slot, &invocation.operator, holder)),
        Standing::OtherArgs(holder) => Next::Write(refuse(durable, invocation, action::other_args(&holder), context)),
        Standing::Keyless | Standing::Unseen | Standing::Free => Next::LookAction,
    }
}

/// A world-changing effect of the slot, which only a lost row can explain where there is none.
fn stray_effect(durable: &Durable, invocation: &Invocation) -> bool {
    let slot = &invocation.slot;
    // Number 0 is the host's own answer: a refusal, or another job's receipt.
    let exists = durable.effects.range((slot.clone(), 1)..=(slot.clone(), u32::MAX)).next().is_some();
    exists && durable.job.pinned(&invocation.operator).is_some_and(Pinned::is_world_changing)
}

fn forbidden(durable: &Durable, planned: &plan::Step, invocation: &Invocation) -> Option<Failure> {
    let job = &durable.job;
    // What undoes is made in a job that is given up, and there alone.
    if !ladder::goes_on(durable, &invocation.slot) {
        return Some(Failure::new(Code::Cancelled, "the job is being cancelled"));
    }
    if let Some(failure) = &invocation.unfit {
        return Some(failure.clone());
    }
    let Some(operator) = job.pinned(&invocation.operator) else {
        let message = format!("no loaded plugin served the operator {} when the job was accepted", invocation.operator);
        return Some(Failure::new(Code::InvalidInput, message));
    };
    if operator.kind != PluginKind::Tool {
        let message = format!("{} is served by a step plugin; only tools can be called", invocation.operator);
        return Some(Failure::new(Code::InvalidInput, message));
    }
    if let Some(failure) = policy::forbids(job.header.mode, planned, operator) {
        return Some(failure);
    }
    gates::refusal(job.gates.get(&invocation.slot)?)
}

fn allowed(
    durable: &Durable,
    planned: &plan::Step,
    invocation: &Invocation,
    standing: &Standing,
    context: &Context<'_>,
) -> Next {
    let job = &durable.job;
    let slot = &invocation.slot;
    let operator = job.pinned(&invocation.operator).expect("refused above where it is not pinned");
    // What failed to undo and is tried again on somebody's word is asked about like the first time.
    let anew = |call: &Call| slot.is_compensation() && call.tries == call.round;
    let first = job.calls.get(slot).is_none_or(|call| call.is_unstarted() || anew(call));
    if let Some(spent) = job.calls.get(slot).and_then(spent_in_vain) {
        let message = format!("it was executed {spent} times, and each time it did not take effect");
        return Next::Write(refuse(durable, invocation, Failure::new(Code::DependencyUnavailable, message), context));
    }
    if first && is_dry(job.header.mode) && operator.is_world_changing() {
        let step_id = slot.step();
        let call = (!slot.is_step()).then(|| {
            let (slot, operator) = (slot.clone(), invocation.operator.clone());
            Box::new(WouldCall { slot, operator, args: invocation.args_ref })
        });
        let skip = Body::StepSkipped { step_id, reason: Code::ModeForbids, because: None, call };
        let payload = Payload { label: label::args(slot), bytes: invocation.args.clone() };
        return Next::Block(Draft { events: vec![skip], payloads: vec![payload], ..Draft::default() });
    }
    // What was done may be undone in every mode.
    let mode = Some(job.header.mode).filter(|_| first && !slot.is_compensation());
    let withdrawn = mode.and_then(|mode| policy::withdrawn(context.rules, mode, operator));
    let unverifiable = || policy::unverifiable(context.rules, &invocation.operator, operator).filter(|_| first);
    if let Some(failure) = withdrawn.or_else(unverifiable) {
        return Next::Write(refuse(durable, invocation, failure, context));
    }
    // Nobody is asked to approve what was done already.
    if first && matches!(standing, Standing::Unseen) {
        let asks = !slot.is_step()
            && !job.gates.contains_key(slot)
            && is_gated(durable, context, planned, (&invocation.operator, operator), false);
        if asks || durable.seen.look_first {
            return Next::LookAction;
        }
    }
    if first && let Some(next) = gated(durable, planned, invocation, operator, context) {
        return next;
    }
    let (draft, started) = start(durable, invocation, operator, Provenance::Executed, context);
    if let Some(effect) = paid_for(durable, slot, operator, started.try_no) {
        return Next::Write(super::answered(durable, invocation, &started, caught_up(&effect), context));
    }
    Next::Execute { draft, started }
}

/// How often the call was executed, where the last time proved to have changed nothing and no
/// more are allowed.
fn spent_in_vain(call: &Call) -> Option<u32> {
    let spent = call.tries.saturating_sub(call.round);
    let in_vain = call.verdict == Some((call.tries, Verdict::NotApplied));
    (in_vain && spent >= TRIES_MAX).then_some(spent)
}

/// The answer of a model that was put away before its events could be (staged commit). It was
/// paid for: it counts, where another read is simply made again.
fn paid_for(durable: &Durable, slot: &Slot, operator: &Pinned, try_no: u32) -> Option<Arc<Effect>> {
    let asks = operator.determinism == Determinism::Stable && !operator.is_world_changing();
    let effect = durable.effects.get(&(slot.clone(), try_no)).filter(|_| asks)?;
    matches!(effect.answer, Answer::Ok(_)).then(|| effect.clone())
}

/// The gate of a call inside a step plugin; a plan step's own gate was asked before it ran.
fn gated(
    durable: &Durable,
    planned: &plan::Step,
    invocation: &Invocation,
    operator: &Pinned,
    context: &Context<'_>,
) -> Option<Next> {
    let job = &durable.job;
    let slot = &invocation.slot;
    let hash = gate_hash(operator, invocation.operator.as_str(), slot, &invocation.args, job.header.mode);
    match job.gates.get(slot) {
        Some(gate) if gate.hash != hash => {
            let divergence = Divergence::new(slot, "call", "approved arguments", gate.hash.to_hex(), hash.to_hex());
            Some(Next::Diverge(divergence))
        }
        Some(gate) if gate.decision.is_some() && gates::holds(durable, context, gate) => None,
        Some(gate) if gate.decision.is_none() => {
            Some(Next::Block(Draft { events: waits_at(slot, Code::RequiresApproval), ..Draft::default() }))
        }
        found => {
            if slot.is_step() {
                return None;
            }
            // What undoes a plan step is asked about like the step itself.
            let own = slot.compensated().is_some_and(|of| of.is_step());
            let needed = || is_gated(durable, context, planned, (&invocation.operator, operator), own);
            if found.is_none() && !needed() {
                return None;
            }
            let (mut events, decided) = ask(durable, context, slot, hash, invocation.args_ref, &invocation.operator);
            let mut draft = Draft { flush_now: true, ..Draft::default() };
            if found.is_none() && !durable.payloads.contains_key(&label::args(slot)) {
                draft.payloads.push(Payload { label: label::args(slot), bytes: invocation.args.clone() });
            }
            if decided {
                return Some(Next::Write(Draft { events, ..draft }));
            }
            events.extend(waits_at(slot, Code::RequiresApproval));
            Some(Next::Block(Draft { events, ..draft }))
        }
    }
}

/// The step waits for its call; for what undoes one, the job as a whole does.
fn waits_at(slot: &Slot, reason: Code) -> Vec<Body> {
    if slot.is_compensation() { Vec::new() } else { vec![blocked(&slot.step(), slot, reason)] }
}

/// The start of one more try: its barrier where it may change the world.
pub(super) fn start(
    durable: &Durable,
    invocation: &Invocation,
    operator: &Pinned,
    provenance: Provenance,
    context: &Context<'_>,
) -> (Draft, super::Try) {
    let job = &durable.job;
    let slot = &invocation.slot;
    let call = job.calls.get(slot);
    let first_attempt = call.map(|call| call.first_attempt).filter(|first| *first > 0).unwrap_or(job.attempt);
    let try_no = call.map_or(0, |call| call.tries) + 1;
    let started =
        super::Try { try_no, first_attempt, nonce: context.random, provenance, timeout_ms: invocation.timeout_ms };
    if !operator.is_world_changing() {
        return (Draft::default(), started);
    }
    let row = Row {
        slot: slot.clone(),
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        state: RowState::Inflight,
        attempt: job.attempt,
        nonce: started.nonce,
        try_no,
        first_attempt,
        first_started_us: durable
            .rows
            .get(slot)
            .filter(|row| row.first_attempt > 0)
            .map_or(context.now_us, |row| row.first_started_us),
        world_changing: true,
        timeout_ms: invocation.timeout_ms,
        deadline_us: 0,
        next_try_us: None,
        result_hash: None,
        action_key: invocation.action_key,
    };
    let mut draft = Draft {
        events: vec![started_event(invocation, &started)],
        ledger: vec![write(durable, row)],
        acquire: true,
        flush_now: true,
        ..Draft::default()
    };
    if !slot.is_step() && !durable.payloads.contains_key(&label::args(slot)) {
        draft.payloads.push(Payload { label: label::args(slot), bytes: invocation.args.clone() });
    }
    // Every try asks for the reservation: it may have been given back at the end of a round.
    if let Some(key) = invocation.action_key {
        draft.actions.push(ActionWrite::Reserve {
            operator: invocation.operator.clone(),
            key,
            args_hash: action::args_hash(&invocation.args),
            slot: slot.clone(),
        });
    }
    (draft, started)
}

/// The event of the barrier.
pub(super) fn started_event(invocation: &Invocation, started: &super::Try) -> Body {
    Body::ToolInvocationStarted {
        slot: invocation.slot.clone(),
        operator: invocation.operator.clone(),
        try_no: started.try_no,
        args: invocation.args_ref,
        first_attempt: started.first_attempt,
        timeout_ms: started.timeout_ms,
        action_key: invocation.action_key,
    }
}

/// Our own barrier is durable, though nobody said so, and nothing was executed under it. In a job that was
/// given up meanwhile nothing is: that is the answer.
fn go_on(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> Next {
    let slot = &invocation.slot;
    let open = super::Try::open(durable, slot).expect("a row in flight has its open try");
    let repeats = super::answer::repeats(durable, slot);
    let provenance = if repeats { Provenance::KeyedRetry } else { Provenance::Executed };
    let started = super::Try { provenance, ..open };
    if ladder::goes_on(durable, slot) {
        // Nothing is left to write, but whether it may be executed still is asked like the first time: job in
        // hand, lease, cancellation, and that the database is the one it was.
        let draft = Draft { acquire: true, flush_now: true, ..Draft::default() };
        return Next::Execute { draft, started };
    }
    let answer = Answer::NotApplied(Failure::new(Code::Cancelled, "the job was given up before the call was made"));
    let (try_no, time_us) = (started.try_no, context.now_us);
    let effect = Effect { slot: slot.clone(), try_no, answer, provenance, time_us, spent: None };
    Next::Write(super::answered(durable, invocation, &started, effect, context))
}

/// The write that replaces the slot's row, whatever it is now.
pub(super) fn write(durable: &Durable, row: Row) -> LedgerWrite {
    match durable.rows.get(&row.slot) {
        None => LedgerWrite::Insert(row),
        Some(old) => LedgerWrite::Update { expect: old.state, expect_try: old.try_no, expect_nonce: old.nonce, row },
    }
}

/// The recorded final answer, repairing the row where the log is ahead of it.
fn recorded(durable: &Durable, slot: &Slot) -> Next {
    if let Some(row) = durable.rows.get(slot)
        && !row.state.is_final()
    {
        return Next::Write(repair(durable, row));
    }
    let call = durable.job.calls.get(slot);
    if !call.is_some_and(|call| call.committed) {
        // Only possible where the row is final and its events are gone: the log is the authority.
        return Next::Diverge(Divergence::new(
            slot,
            "call",
            "final answer",
            "a final ledger row".to_owned(),
            "no command_committed event".to_owned(),
        ));
    }
    let Some(effect) = durable.answer(slot) else {
        return Next::Answer(Err(Failure::new(Code::Internal, format!("the recorded answer of {slot} is missing"))));
    };
    Next::Answer(match &effect.answer {
        Answer::Ok(output) => Ok(output.result.clone()),
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => Err(failure.clone()),
    })
}

/// What the crash kept from being written after the events: the row, and its reservation.
fn repair(durable: &Durable, row: &Row) -> Draft {
    let slot = &row.slot;
    let finished = durable.job.calls.get(slot).and_then(|call| call.finished.as_ref());
    let ok = finished.is_some_and(|finished| finished.ok);
    let state = if ok { RowState::Committed } else { RowState::FailedFinal };
    let result_hash = finished.map(|finished| finished.answer.hash);
    let ledger = vec![write(durable, Row { state, result_hash, next_try_us: None, ..row.clone() })];
    let answer = durable.answer(slot);
    let receipt = match answer.as_deref().map(|effect| &effect.answer) {
        Some(Answer::Ok(output)) => Some(action::receipt(output)),
        _ => None,
    };
    let is_reused = finished.is_some_and(|finished| finished.provenance == Provenance::Reused);
    let is_lost = durable.job.calls.get(slot).is_some_and(Call::is_lost);
    // A receipt of another job settles nothing, and what was lost may have happened.
    let key = row.action_key.filter(|_| !is_reused && !is_lost && ok == receipt.is_some());
    let actions = action::settled(slot, &row.operator, key, receipt);
    Draft { ledger, actions, ..Draft::default() }
}

fn refuse(durable: &Durable, invocation: &Invocation, failure: Failure, context: &Context<'_>) -> Draft {
    let slot = &invocation.slot;
    let call = durable.job.calls.get(slot);
    let try_no = call.map_or(0, |call| call.tries + 1);
    let effect = Effect {
        slot: slot.clone(),
        try_no,
        answer: Answer::NotApplied(failure.clone()),
        provenance: Provenance::Executed,
        time_us: context.now_us,
        spent: None,
    };
    let (effects, effect) = action::once(durable, effect);
    let answer = durable.payload_ref(&label::answer(slot, try_no), &effect.to_bytes());
    let refused = Some(Refused {
        operator: invocation.operator.clone(),
        args: invocation.args_ref,
        action_key: invocation.action_key,
    });
    let finished = Body::ToolInvocationFinished {
        slot: slot.clone(),
        try_no,
        ok: false,
        answer,
        provenance: Provenance::Executed,
        code: Some(failure.code),
        usage: None,
        spent: None,
        assumed_micro_usd: None,
        nondeterministic: false,
        refused,
    };
    let old = durable.rows.get(slot);
    let row = Row {
        slot: slot.clone(),
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        state: RowState::FailedFinal,
        attempt: durable.job.attempt,
        nonce: context.random,
        try_no,
        first_attempt: old.map_or(0, |row| row.first_attempt),
        first_started_us: old.map_or(context.now_us, |row| row.first_started_us),
        world_changing: durable.job.pinned(&invocation.operator).is_some_and(Pinned::is_world_changing),
        timeout_ms: 0,
        deadline_us: 0,
        next_try_us: None,
        result_hash: Some(answer.hash),
        action_key: invocation.action_key,
    };
    Draft {
        events: vec![finished, Body::CommandCommitted { slot: slot.clone() }],
        ledger: vec![write(durable, row)],
        effects,
        ..Draft::default()
    }
}

/// The last failure becomes the final answer.
fn fail_final(durable: &Durable, slot: &Slot) -> Draft {
    let row = durable.rows.get(slot).expect("FailFinal is decided only with a row");
    let result_hash = durable.job.calls.get(slot).and_then(|c| c.finished.as_ref()).map(|f| f.answer.hash);
    Draft {
        events: vec![Body::CommandCommitted { slot: slot.clone() }],
        ledger: vec![write(durable, Row { state: RowState::FailedFinal, result_hash, ..row.clone() })],
        actions: action::settled(slot, &row.operator, row.action_key, None),
        ..Draft::default()
    }
}

fn indeterminate(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> Draft {
    let slot = &invocation.slot;
    let call = durable.job.calls.get(slot);
    let old = durable.rows.get(slot);
    let row = Row {
        slot: slot.clone(),
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        state: RowState::Indeterminate,
        attempt: old.map_or(durable.job.attempt, |row| row.attempt),
        nonce: old.map_or(context.random, |row| row.nonce),
        try_no: call.map_or(0, |call| call.tries),
        first_attempt: call.map_or(durable.job.attempt, |call| call.first_attempt),
        first_started_us: old.map_or(context.now_us, |row| row.first_started_us),
        world_changing: true,
        timeout_ms: invocation.timeout_ms,
        deadline_us: old.map_or(0, |row| row.deadline_us),
        next_try_us: None,
        result_hash: None,
        action_key: invocation.action_key,
    };
    Draft { ledger: vec![write(durable, row)], ..Draft::default() }
}

fn backoff(slot: &Slot, time_us: i64, context: &Context<'_>) -> Next {
    let wait_ms = u32::try_from((time_us - context.now_us).max(0) / 1000 + 1).unwrap_or(u32::MAX);
    if wait_ms <= WAIT_IN_PLACE_MS || slot.is_step() {
        return Next::WaitMs(wait_ms);
    }
    Next::Block(Draft { events: waits_at(slot, Code::RetryScheduled), ..Draft::default() })
}

pub(super) fn caught_up(effect: &Effect) -> Effect {
    let provenance = if effect.provenance.is_executed() { Provenance::CaughtUp } else { effect.provenance };
    Effect { provenance, ..effect.clone() }
}

fn mismatch(durable: &Durable, invocation: &Invocation) -> Divergence {
    let slot = &invocation.slot;
    let recorded = durable.job.calls.get(slot).map(|call| (call.operator.clone(), call.args.hash));
    let (operator, args) = recorded
        .or_else(|| durable.rows.get(slot).map(|row| (row.operator.clone(), row.args_hash)))
        .expect("a mismatch is decided only against a row or an event");
    if operator != invocation.operator {
        return Divergence::new(slot, "call", "operator", operator.to_string(), invocation.operator.to_string());
    }
    let recorded = durable.job.calls.get(slot).map(|call| call.action_key);
    let recorded = recorded.or_else(|| durable.rows.get(slot).map(|row| row.action_key)).flatten();
    if args == invocation.args_ref.hash && recorded != invocation.action_key {
        let word = |key: Option<Hash>| key.map_or_else(|| "none".to_owned(), Hash::to_hex);
        return Divergence::new(slot, "call", "action key", word(recorded), word(invocation.action_key));
    }
    let kept = durable.args(slot).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Divergence::new(
        slot,
        "call",
        "arguments",
        kept.unwrap_or_else(|| format!("salted hash {args}")),
        String::from_utf8_lossy(&invocation.args).into_owned(),
    )
}

/// The verdict event that ends an open try.
pub(super) fn resolved(slot: &Slot, try_no: u32, verdict: Verdict, by: &str, reason: Option<String>) -> Body {
    Body::InvocationResolved { slot: slot.clone(), try_no, verdict, by: by.to_owned(), reason }
}
