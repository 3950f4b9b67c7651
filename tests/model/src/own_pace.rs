//! Actions of workers that act at their own pace, in configurations with `own_pace`.
//!
//! These workers reload the job, read the inbox early or late, release the job, or make it wait. Production workers do
//! so for reasons that the model leaves out: events that belong to no call, lost statements, heartbeats, backoffs and
//! deferred commits.

use latchwork_core::model::job::JobState;

use crate::decision::{Luck, end_job, plan_for_answer};
use crate::inbox::ModelRequest;
use crate::plan::{Plan, PlannedWrite, nonce};
use crate::record::Answer;
use crate::state::{Phase, State};
use crate::worker::{with_run, write};
use crate::{Config, ModelClass, kernel};

/// Aborts the current work of a worker, which then reloads the job. The worker keeps its answer if `keeps` is true.
///
/// Two kinds of workers do not reload. A worker with a late answer that could not be stored continues as if the answer
/// were stored. A worker with a stored late answer adds its inbox row a second time, because its first write of the row
/// was not acknowledged.
pub(crate) fn reload(config: &Config, state: &State, index: usize, keeps: bool) -> Option<State> {
    if !config.own_pace {
        return None;
    }
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    if let (Phase::Late { slot, try_no, is_stored: true, .. }, true) = (&run.phase, keeps) {
        kernel::add_to_inbox(&mut state.job, ModelRequest::Late { slot: *slot, try_no: *try_no });
        state.suspensions = state.suspensions.checked_sub(1)?;
        return Some(state);
    }
    let news = |kept: (u8, u8, Answer)| Some(kept).filter(|(_, _, answer)| keeps && *answer != Answer::Unknown);
    let keep = match &run.phase {
        Phase::Ready { .. } if keeps => None,
        // The commit of the try's barrier was not acknowledged, and the worker has forgotten the nonce of the barrier.
        // The worker therefore reloads the job without a nonce and without an answer.
        Phase::Executing { sent: false, .. } if keeps => None,
        Phase::Writing(todo) => todo.held_answer.and_then(news),
        Phase::Answered { slot, try_no, answer } if keeps => news((*slot, *try_no, *answer)),
        Phase::Reload { held_answer: Some(_), .. } if !keeps => None,
        Phase::Late { slot, try_no, answer, is_stored: false } if !keeps => {
            let (slot, try_no, answer) = (*slot, *try_no, *answer);
            run.phase = Phase::Late { slot, try_no, answer, is_stored: true };
            return Some(state);
        }
        _ => return None,
    };
    run.phase = Phase::Reload { nonce: None, held_answer: keep };
    Some(state)
}

/// The deferred commit of an answer is lost. The step has already continued with the answer. Later writes of
/// the run are refused because the log is shorter than the run assumes.
pub(crate) fn lose_deferred_commit(config: &Config, state: &State, index: usize, luck: Luck) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    let Phase::Answered { slot, try_no, answer } = run.phase else { return None };
    // The commit of an answer may be deferred only if the call can be queried or repeated, or if it changed
    // nothing.
    let may = config.calls[usize::from(slot)] != ModelClass::Opaque || answer == Answer::NotApplied;
    let view = &mut run.view[usize::from(slot)];
    let plan = plan_for_answer(config, view, slot, try_no, answer, run.cancelled || luck == Luck::Final);
    if !config.own_pace || config.staged || !may || matches!(plan, Plan::MarkInDoubt { .. }) {
        return None;
    }
    PlannedWrite::new(slot, plan, config).append(view, run.attempt);
    if matches!(plan, Plan::Commit { .. }) {
        run.injected[usize::from(slot)] = Some(answer);
    }
    run.phase = Phase::Ready { fresh: false, nonce: None };
    Some(state)
}

/// A worker that holds an answer learns that another attempt holds the job. The worker has not tried to write yet, or
/// does not know the result of its write.
pub(crate) fn learn_lease_lost(config: &Config, state: &State, index: usize) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    // The next try of a read need not wait until the failure of the last try is durable. The read may therefore already
    // execute its next try when the store refuses to record that failure. In the model a read runs at most one try
    // ahead: more tries would give too many states.
    if let Phase::Late { slot, try_no, answer: Answer::NotApplied, is_stored: false } = run.phase {
        let (is_read, view) = (config.calls[usize::from(slot)] == ModelClass::Read, &run.view[usize::from(slot)]);
        if !config.own_pace || !is_read || try_no >= config.tries || try_no != view.tries + 1 {
            return None;
        }
        let known = view.first_attempt;
        let (try_no, first_attempt) = (try_no + 1, if known == 0 { run.attempt } else { known });
        run.phase = Phase::Executing { slot, try_no, nonce: nonce(run.attempt, try_no), first_attempt, sent: false };
        return Some(state);
    }
    let (Phase::Answered { slot, try_no, answer } | Phase::Reload { held_answer: Some((slot, try_no, answer)), .. }) =
        run.phase
    else {
        return None;
    };
    let held = run.attempt == state.job.attempt && state.job.state() == JobState::Running;
    if !config.own_pace || held || answer == Answer::Unknown {
        return None;
    }
    run.phase = Phase::Late { slot, try_no, answer, is_stored: false };
    Some(state)
}

/// A worker has read the inbox. Later requests wait until the worker loads the job again.
pub(crate) fn mark_inbox_read(config: &Config, state: &State, index: usize) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    if !config.own_pace || run.phase != (Phase::Ready { fresh: true, nonce: None }) {
        return None;
    }
    run.phase = Phase::Ready { fresh: false, nonce: None };
    Some(state)
}

/// A worker releases the job, or lets it wait for a time.
pub(crate) fn suspend(config: &Config, state: &State, index: usize, to: JobState) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.take()?;
    if !config.own_pace || !matches!(run.phase, Phase::Ready { nonce: None, .. }) {
        return None;
    }
    state.suspensions = state.suspensions.checked_sub(1)?;
    let run = write(config, &mut state, run, end_job(config, 0, to), Luck::Good)?;
    with_run(state, index, run)
}
