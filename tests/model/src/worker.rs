//! Actions of workers: get a decision, write, execute. One action is one decision and
//! the write that follows, because only writes are visible to other workers.

use latchwork_core::storage::WriteError;

use crate::decision::{Choice, Luck, choose, external_key, in_doubt, plan_for_answer, plan_for_decision};
use crate::inbox::ModelRequest;
use crate::plan::{EFFECTS, EVENTS, Plan, PlannedWrite, ROW, nonce};
use crate::record::{Answer, Effect, EffectOrigin, Verdict};
use crate::state::{Phase, Run, State, TryClock, Violation};
use crate::{Config, ModelClass, Mutant, kernel};

/// Makes a turn that does not touch the world. Returns `None` if the worker has to wait.
pub(crate) fn turn(config: &Config, state: &State, index: usize, luck: Luck) -> Option<State> {
    let mut state = state.clone();
    let mut run = state.workers[index].run.take()?;
    let lost = matches!(luck, Luck::LostBefore | Luck::LostAfter);
    let todo = match run.phase.clone() {
        // After a reload, the worker reads the inbox before it decides. A worker with an unacknowledged barrier first
        // looks for this barrier in the loaded data.
        Phase::Ready { fresh: true, nonce: None } if !state.job.inbox.is_empty() => return None,
        Phase::Ready { nonce, .. } => match choose(config, &state, &run, nonce, luck)? {
            Choice::Write(todo) => todo,
            _ if lost => return None,
            Choice::WriteNext(todo) => {
                run.phase = Phase::Writing(todo);
                return with_run(state, index, Some(run));
            }
            Choice::Execute { slot, try_no, nonce, first_attempt } => {
                if config.calls[usize::from(slot)] != ModelClass::Read && state.clock(slot, try_no) == TryClock::Unused
                {
                    state.set_clock(slot, try_no, TryClock::Live);
                }
                run.phase = Phase::Executing { slot, try_no, nonce, first_attempt, sent: false };
                return with_run(state, index, Some(run));
            }
            Choice::Inject { slot, answer } => {
                inject(&mut state, &mut run, slot, answer);
                run.phase = Phase::Ready { fresh: false, nonce: None };
                return with_run(state, index, Some(run));
            }
            Choice::Abandon => return with_run(state, index, None),
        },
        Phase::Writing(_) | Phase::Answered { .. } | Phase::Reload { .. } | Phase::Late { .. }
            if luck == Luck::Inconclusive =>
        {
            return None;
        }
        Phase::Writing(_) | Phase::Reload { .. } | Phase::Late { .. } if luck == Luck::Final => return None,
        Phase::Writing(todo) => todo,
        Phase::Answered { slot, try_no, answer } => {
            let record = &run.view[usize::from(slot)];
            let plan = plan_for_answer(config, record, slot, try_no, answer, run.cancelled || luck == Luck::Final);
            PlannedWrite { held_answer: Some((slot, try_no, answer)), ..PlannedWrite::new(slot, plan, config) }
        }
        _ if lost => return None,
        Phase::Reload { nonce, held_answer: keep } => {
            if let Some((slot, try_no, answer)) = keep {
                store_effect(config, &mut state, &run, slot, try_no, answer);
                if config.own_pace {
                    run.phase = Phase::Reload { nonce, held_answer: None };
                    return with_run(state, index, Some(run));
                }
            }
            run.view.clone_from(&state.job.records);
            run.current = state.job.attempt;
            run.cancelled = state.job.cancelled;
            run.phase = Phase::Ready { fresh: true, nonce };
            return with_run(state, index, Some(run));
        }
        Phase::Late { slot, try_no, answer, is_stored: false } => {
            store_effect(config, &mut state, &run, slot, try_no, answer);
            run.phase = Phase::Late { slot, try_no, answer, is_stored: true };
            return with_run(state, index, Some(run));
        }
        Phase::Late { slot, try_no, .. } => {
            kernel::add_to_inbox(&mut state.job, ModelRequest::Late { slot, try_no });
            return with_run(state, index, None);
        }
        Phase::Executing { .. } => return None,
    };
    let run = write(config, &mut state, run, todo, luck)?;
    with_run(state, index, run)
}

/// The lease holder applies the oldest request in the inbox.
pub(crate) fn drain(config: &Config, state: &State, index: usize, luck: Luck) -> Option<State> {
    let mut state = state.clone();
    let mut run = state.workers[index].run.take()?;
    let ready = matches!(run.phase, Phase::Ready { nonce: None, .. });
    // In configurations with `own_pace`, a worker also reads the inbox while it executes a try or writes.
    let beside =
        config.own_pace && matches!(run.phase, Phase::Executing { .. } | Phase::Answered { .. } | Phase::Writing(_));
    let about = run.phase.clone();
    let note = *state.job.inbox.first().filter(|_| ready || beside)?;
    if luck == Luck::Final && !matches!(note, ModelRequest::Resolve { .. }) {
        return None;
    }
    let (slot, plan) = match note {
        ModelRequest::Cancel => (0, Plan::Nothing),
        ModelRequest::Late { slot, .. } => {
            let at = usize::from(slot);
            run.view[at].effects = state.job.records[at].effects;
            (slot, Plan::Nothing)
        }
        ModelRequest::Resolve { slot, try_no, found_result: seen } => {
            let record = &run.view[usize::from(slot)];
            if in_doubt(record) && record.open_try().is_none() && !record.committed {
                state.record_violation(Violation::DecisionNotApplied);
            }
            (slot, plan_for_decision(config, &run, slot, (try_no, seen), luck))
        }
    };
    let todo = PlannedWrite { applies: Some(note), ..PlannedWrite::new(slot, plan, config) };
    let mut run = write(config, &mut state, run, todo, luck)?;
    if beside && let Some(run) = &mut run {
        // While the worker executes a try or writes, it applies a request under two conditions: a single write is
        // enough, and the store accepts this write.
        matches!(run.phase, Phase::Ready { .. }).then_some(())?;
        // If the request changed the state of the call, the run reloads the job and drops its current try.
        let asks_on = matches!(plan, Plan::Nothing | Plan::Unblock);
        run.phase = if asks_on { about } else { Phase::Reload { nonce: None, held_answer: None } };
    }
    with_run(state, index, run)
}

pub(crate) fn with_run(mut state: State, index: usize, run: Option<Run>) -> Option<State> {
    state.workers[index].run = run;
    Some(state)
}

/// Writes the next parts of a planned write, and sets the worker's next phase. Returns `None` if `luck` is not possible
/// here, or if another value of `luck` leads to the same result.
pub(crate) fn write(
    config: &Config,
    state: &mut State,
    mut run: Run,
    mut todo: PlannedWrite,
    luck: Luck,
) -> Option<Option<Run>> {
    let at = usize::from(todo.slot);
    let part = todo.next_parts(&run.view[at]);
    let fenced = part & (EVENTS | ROW) != 0;
    let lost = matches!(luck, Luck::LostBefore | Luck::LostAfter);
    if lost && (!fenced || state.lost_commits == 0) {
        return None;
    }
    let admitted = if luck == Luck::LostBefore {
        Err(None)
    } else if todo.acquires() && config.lacks(Mutant::UnfencedAcquire) {
        Ok(())
    } else if fenced {
        kernel::check_admitted(&state.job, &run, &todo, part).map_err(Some)
    } else {
        let (try_no, effect) = todo.effect(&run.view[at])?;
        let taken = kernel::accepts_effect(&state.job, todo.slot, try_no, &effect);
        if taken { Ok(()) } else { Err(Some(WriteError::InboxPending)) }
    };
    if lost {
        state.lost_commits -= 1;
    }
    match admitted {
        Ok(()) => apply(state, &mut run, &todo, part),
        // If the store refuses the write and the answer with the refusal is lost, the worker reloads the job. The same
        // happens after a write that did not reach the store, and the search covers both cases with
        // [`Luck::LostBefore`].
        Err(Some(_)) if lost => return None,
        Err(Some(WriteError::Fenced { .. } | WriteError::LeaseExpired | WriteError::NotHeld { .. })) => {
            let Some((slot, try_no, answer)) = todo.held_answer.filter(|(_, _, answer)| *answer != Answer::Unknown)
            else {
                return Some(None);
            };
            run.phase = Phase::Late { slot, try_no, answer, is_stored: false };
            return Some(Some(run));
        }
        Err(_) => {}
    }
    if lost || admitted.is_err() {
        let barrier = match todo.plan {
            Plan::Acquire { try_no, .. } if lost => Some(nonce(run.attempt, try_no)),
            _ => None,
        };
        let keep = todo.held_answer.filter(|(_, _, answer)| *answer != Answer::Unknown);
        run.phase = Phase::Reload { nonce: barrier, held_answer: keep };
        return Some(Some(run));
    }
    todo.remaining_parts &= !part;
    if todo.next_parts(&run.view[at]) != 0 {
        run.phase = Phase::Writing(todo);
        return Some(Some(run));
    }
    run.phase = match todo.plan {
        Plan::Acquire { try_no, .. } => Phase::Executing {
            slot: todo.slot,
            try_no,
            nonce: nonce(run.attempt, try_no),
            first_attempt: external_key(config, run.attempt, run.view[at].first_attempt),
            sent: false,
        },
        Plan::Park | Plan::End { .. } => return Some(None),
        _ => Phase::Ready { fresh: todo.applies.is_some(), nonce: None },
    };
    Some(Some(run))
}

/// Applies a written part to the database and to the worker's view.
fn apply(state: &mut State, run: &mut Run, todo: &PlannedWrite, part: u8) {
    let at = usize::from(todo.slot);
    let effect = todo.effect(&run.view[at]).filter(|_| part & EFFECTS != 0);
    let row = todo.row(&run.view[at], run.attempt).filter(|_| part & ROW != 0);
    let events = part & EVENTS != 0;
    if part & (EVENTS | ROW) != 0 && run.attempt != state.job.attempt {
        state.record_violation(Violation::StaleWrite);
    }
    if events && todo.commits() && state.job.records[at].committed {
        state.record_violation(Violation::SecondCommit);
    }
    if todo.acquires() && part & ROW != 0 {
        if state.job.cancel_flag {
            state.record_violation(Violation::StartedAfterCancel);
        }
        if let Some(row) = row {
            state.set_clock(todo.slot, row.try_no, TryClock::Live);
        }
    }
    for record in [&mut run.view[at], &mut state.job.records[at]] {
        if let Some((try_no, effect)) = effect {
            record.effects[usize::from(try_no) - 1].get_or_insert(effect);
        }
        if events {
            todo.append(record, run.attempt);
        }
        record.row = row.or(record.row);
    }
    if !events {
        return;
    }
    if let Some(note) = todo.applies {
        state.job.inbox.remove(0);
        if note == ModelRequest::Cancel {
            (state.job.cancelled, run.cancelled) = (true, true);
        }
    }
    if let Some(to) = todo.status() {
        state.job.set_state(to);
        state.job.lease_live = false;
    }
}

/// Stores an answer in the effect store without its events. If the effect store already has a verdict on the
/// try, the verdict stays.
fn store_effect(config: &Config, state: &mut State, run: &Run, slot: u8, try_no: u8, answer: Answer) {
    let effect = Effect { answer, by: EffectOrigin::Executed };
    // A repeat that changed nothing does not answer the call, because the try that it repeats may have changed
    // something.
    let fails_again = answer == Answer::NotApplied && run.view[usize::from(slot)].was_repeated();
    if fails_again && !config.lacks(Mutant::FailedRepeatSettles) {
        return;
    }
    if config.lacks(Mutant::LeaseFencedEffects) && run.attempt != state.job.attempt {
        state.record_violation(Violation::AnswerLost);
        return;
    }
    if kernel::accepts_effect(&state.job, slot, try_no, &effect) {
        state.job.records[usize::from(slot)].effects[usize::from(try_no) - 1].get_or_insert(effect);
        return;
    }
    // A person or tool gives the verdict "not applied" only if it can know that the call did not happen. A result of
    // the same try therefore violates the protocol.
    let record = &state.job.records[usize::from(slot)];
    let denied = record.verdicts[usize::from(try_no) - 1] == Some(Verdict::NotApplied);
    if denied && matches!(answer, Answer::Ok(_)) {
        state.record_violation(Violation::DifferentAnswer);
    }
}

/// The step continues with a recorded answer.
fn inject(state: &mut State, run: &mut Run, slot: u8, answer: Answer) {
    let at = usize::from(slot);
    let record = &state.job.records[at];
    let stored = record.finished.and_then(|(try_no, _)| record.effect(try_no.max(1)));
    let as_stored = match (answer, stored) {
        (Answer::Ok(_), Some(effect)) => effect.answer == answer,
        (Answer::Ok(_), None) => false,
        _ => true,
    };
    let recorded = record.answer() == Some(answer);
    if !as_stored || !recorded || state.delivered[at].is_some_and(|first| first != answer) {
        state.record_violation(Violation::DifferentAnswer);
    }
    state.delivered[at] = Some(answer);
    run.injected[at] = Some(answer);
}
