//! Decisions of workers, from the production code or modelled after it. They determine the next action, the meaning of
//! an answer, the steps that resolve a call in doubt, and the result of a person's decision.

use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::{LedgerDecision, Quiescence, Rejection, RowState};

use crate::plan::{Plan, PlannedWrite, nonce};
use crate::record::{Answer, Effect, EffectOrigin, Record};
use crate::state::{Run, State, TryClock};
use crate::{Config, ModelClass, Mutant, kernel};

/// Luck of a worker's turn: selects one of the possible results of the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Luck {
    /// The turn succeeds.
    Good,
    /// The time during which the tool recognizes the key is over, or the tool does not know whether the call
    /// happened.
    Inconclusive,
    /// The turn succeeds. If the call failed, the failure is final and no retry follows.
    Final,
    /// The write is lost before it reaches the store and is not acknowledged.
    LostBefore,
    /// The write is applied but not acknowledged.
    LostAfter,
}

/// A worker's decision.
pub(crate) enum Choice {
    Write(PlannedWrite),
    /// The tool has answered a reconcile request. The answer is written next.
    WriteNext(PlannedWrite),
    Execute {
        slot: u8,
        try_no: u8,
        nonce: u16,
        first_attempt: u8,
    },
    Inject {
        slot: u8,
        answer: Answer,
    },
    Abandon,
}

/// Chooses the worker's next action. The action concerns the first invocation whose answer the step has not received.
/// If the step has received all answers, the action ends the job.
pub(crate) fn choose(config: &Config, state: &State, run: &Run, own: Option<u16>, luck: Luck) -> Option<Choice> {
    let (shrug, for_good) = (luck == Luck::Inconclusive, luck == Luck::Final);
    let Some(at) = run.injected.iter().position(Option::is_none) else {
        let good = run.injected.iter().all(|answer| matches!(answer, Some(Answer::Ok(_))));
        let end = match (run.cancelled, good) {
            (true, _) => JobState::Cancelled,
            (false, true) => JobState::Completed,
            (false, false) => JobState::Failed,
        };
        return (luck != Luck::Inconclusive && luck != Luck::Final).then(|| Choice::Write(end_job(config, 0, end)));
    };
    let slot = u8::try_from(at).ok()?;
    let (record, class) = (&run.view[at], config.calls[at]);
    let write = |plan| Some(Choice::Write(PlannedWrite::new(slot, plan, config)));
    if record.blocked {
        return write(Plan::Park).filter(|_| !shrug && !for_good);
    }
    let clock = record.row.map_or(TryClock::Unused, |row| state.clock(slot, row.try_no));
    let quiescence = if config.lacks(Mutant::NoQuiescence) { Quiescence::Quiescent } else { kernel::quiescence(clock) };
    let decision = kernel::decide(run, slot, class, own, quiescence);
    // In a cancelled job, a production worker may return the answer of a read without another write. If an earlier
    // crash prevented the write of the read's ledger row, the row therefore stays unfinished.
    if config.own_pace && run.cancelled && class == ModelClass::Read && decision == LedgerDecision::ReturnRecordedResult
    {
        let is_behind = record.row.is_some_and(|row| !row_state(row.state).is_final());
        if shrug && is_behind {
            return Some(Choice::Inject { slot, answer: record.answer().unwrap_or(Answer::Unknown) });
        }
    }
    if shrug && decision != LedgerDecision::Ladder {
        return None;
    }
    if for_good && !matches!(decision, LedgerDecision::Ladder | LedgerDecision::CatchUp) {
        return None;
    }
    match decision {
        LedgerDecision::Rejected(Rejection::Stale) => Some(Choice::Abandon),
        LedgerDecision::Rejected(Rejection::Forbidden(_)) => {
            Some(Choice::Write(end_job(config, slot, JobState::Cancelled)))
        }
        LedgerDecision::ReturnRecordedResult => {
            if record.row.is_some_and(|row| !row_state(row.state).is_final()) {
                return write(Plan::Repair);
            }
            Some(Choice::Inject { slot, answer: record.answer().unwrap_or(Answer::Unknown) })
        }
        LedgerDecision::CatchUp => {
            let open = record.open_try()?;
            write(plan_for_answer(config, record, slot, open, record.effect(open)?.answer, run.cancelled || for_good))
        }
        LedgerDecision::Ladder => resolution_step(config, state, run, slot, luck),
        LedgerDecision::Continue => Some(Choice::Execute {
            slot,
            try_no: record.tries,
            nonce: own?,
            first_attempt: external_key(config, run.attempt, record.first_attempt),
        }),
        LedgerDecision::WaitOtherWorker { .. } | LedgerDecision::WaitUntil(_) => None,
        LedgerDecision::Indeterminate { .. } => write(Plan::MarkInDoubt { must_settle: false }),
        LedgerDecision::FailFinal => write(Plan::FailFinal),
        LedgerDecision::AllowExecute if record.tries >= config.tries => write(Plan::FailFinal),
        LedgerDecision::AllowExecute if class == ModelClass::Read || config.lacks(Mutant::NoBarrier) => {
            let first_attempt = if record.first_attempt == 0 { run.attempt } else { record.first_attempt };
            let try_no = record.tries + 1;
            Some(Choice::Execute { slot, try_no, nonce: nonce(run.attempt, try_no), first_attempt })
        }
        LedgerDecision::AllowExecute => write(Plan::Acquire { try_no: record.tries + 1, repeat: false }),
        LedgerDecision::StopOldCall | LedgerDecision::Rejected(Rejection::Mismatch | Rejection::ActionInProgress) => {
            unreachable!("one call at a time, always the same one, without an action key")
        }
    }
}

fn row_state(number: u8) -> RowState {
    RowState::from_number(i64::from(number)).expect("only known states are stored")
}

pub(crate) fn end_job(config: &Config, slot: u8, to: JobState) -> PlannedWrite {
    let state = JobState::ALL.iter().position(|state| *state == to).unwrap_or_default();
    PlannedWrite::new(slot, Plan::End { state: u8::try_from(state).unwrap_or_default() }, config)
}

/// Chooses the next resolution step of §5, like `decide::resolution`.
fn resolution_step(config: &Config, state: &State, run: &Run, slot: u8, luck: Luck) -> Option<Choice> {
    let (shrug, for_good) = (luck == Luck::Inconclusive, luck == Luck::Final);
    let (record, class) = (&run.view[usize::from(slot)], config.calls[usize::from(slot)]);
    let write = |plan| Some(Choice::Write(PlannedWrite::new(slot, plan, config)));
    let park = || if shrug && class == ModelClass::Opaque || for_good { None } else { write(Plan::Block) };
    let Some(open) = record.open_try() else {
        return park();
    };
    if let Some(effect) = record.effect(open).filter(|effect| effect.answer != Answer::Unknown) {
        let plan = match (effect.by, effect.answer) {
            (EffectOrigin::Executed, answer) => {
                plan_for_answer(config, record, slot, open, answer, run.cancelled || for_good)
            }
            // The effect store contains the answer to a reconcile request, but a crash prevented the write of
            // the answer's events. These events are written now.
            (EffectOrigin::Verdict, Answer::Ok(value)) => Plan::Applied { try_no: open, value },
            (EffectOrigin::Verdict, _) => Plan::NotApplied { try_no: open },
        };
        return write(plan).filter(|_| !shrug);
    }
    if for_good {
        return None;
    }
    let repeats = class == ModelClass::Keyed && !run.cancelled && !shrug && record.tries < config.tries;
    let asks = class == ModelClass::Queryable && !shrug;
    let settles = record.row.is_some_and(|row| row.must_settle) && !config.lacks(Mutant::NoQuiescence);
    if (repeats || asks) && settles && state.clock(slot, open) != TryClock::Settled {
        return None;
    }
    if repeats {
        return write(Plan::Acquire { try_no: open + 1, repeat: true });
    }
    if asks {
        let key = external_key(config, run.attempt, record.first_attempt);
        let plan = match result_in_world(state, slot, key) {
            Some(value) => Plan::Applied { try_no: open, value },
            None => Plan::NotApplied { try_no: open },
        };
        return Some(Choice::WriteNext(PlannedWrite::new(slot, plan, config)));
    }
    park()
}

/// Returns the result of the request that arrived in the world under an external key, or `None` if no request arrived.
fn result_in_world(state: &State, slot: u8, key: u8) -> Option<u8> {
    let at = state.world[usize::from(slot)].iter().position(|applied| *applied == key)?;
    u8::try_from(at + 1).ok()
}

/// Returns the attempt that the external key contains.
pub(crate) fn external_key(config: &Config, attempt: u8, first_attempt: u8) -> u8 {
    if config.lacks(Mutant::AttemptScopedKey) || first_attempt == 0 { attempt } else { first_attempt }
}

/// Returns the worker's next [`Plan`] after the answer of a try.
pub(crate) fn plan_for_answer(
    config: &Config,
    record: &Record,
    slot: u8,
    try_no: u8,
    answer: Answer,
    cancelled: bool,
) -> Plan {
    let changes = config.calls[usize::from(slot)] != ModelClass::Read;
    // A stored answer of the try overrides a later answer.
    let stored = record.effect(try_no).filter(|stored| stored.answer != Answer::Unknown);
    match stored.map_or(answer, |stored| stored.answer) {
        Answer::Ok(value) => Plan::Commit { try_no, answer: Answer::Ok(value) },
        Answer::Unknown if changes => Plan::MarkInDoubt { must_settle: true },
        Answer::NotApplied if changes && record.was_repeated() => Plan::MarkInDoubt { must_settle: true },
        Answer::NotApplied | Answer::Unknown if try_no >= config.tries || cancelled => {
            Plan::Commit { try_no, answer: Answer::NotApplied }
        }
        Answer::NotApplied | Answer::Unknown => Plan::Fail { try_no },
    }
}

pub(crate) fn in_doubt(record: &Record) -> bool {
    record.row.is_some_and(|row| row.state == RowState::Indeterminate as u8)
}

/// Returns the worker's next [`Plan`] after a person's decision about a call.
pub(crate) fn plan_for_decision(
    config: &Config,
    run: &Run,
    slot: u8,
    (about, seen): (u8, Option<u8>),
    luck: Luck,
) -> Plan {
    let record = &run.view[usize::from(slot)];
    let Some(open) = record.open_try().filter(|_| in_doubt(record)) else {
        return Plan::Nothing;
    };
    // An answer of the tool that was stored before the person's decision overrides the decision.
    let executed = |effect: &Effect| effect.by == EffectOrigin::Executed && effect.answer != Answer::Unknown;
    if let Some(effect) = record.effect(open).filter(executed) {
        // The waiting step uses the recorded answer.
        if record.blocked {
            return Plan::Unblock;
        }
        return plan_for_answer(config, record, slot, open, effect.answer, run.cancelled || luck == Luck::Final);
    }
    if open != about && !config.lacks(Mutant::VerdictWithoutTry) {
        return Plan::Nothing;
    }
    match seen {
        Some(value) => Plan::Applied { try_no: open, value },
        None => Plan::NotApplied { try_no: open },
    }
}
