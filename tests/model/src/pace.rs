//! What workers do at a pace of their own, in worlds that let them: they load the job again, look into the
//! inbox now and not later, give the job back, let it wait. The workers that ship do it because of
//! everything that the model leaves out: events that are no call's, statements that get lost, heartbeats,
//! backoffs, commits that linger.

use latchwork_core::job::JobState;

use crate::plan::{Plan, Todo, nonce};
use crate::record::Answer;
use crate::state::{Note, Phase, State};
use crate::worker::{Luck, answered, ended, put_back, write};
use crate::{Class, Config, kernel};

/// A worker drops what it is about, and loads the job again; its answer it keeps. Whoever has put an answer away, or
/// tried to, goes on; who told of it and was not heard to have told tells it again.
pub(crate) fn again(config: &Config, state: &State, index: usize, keeps: bool) -> Option<State> {
    if !config.free {
        return None;
    }
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    if let (Phase::Late { slot, try_no, put: true, .. }, true) = (&run.phase, keeps) {
        kernel::receive(&mut state.job, Note::Late { slot: *slot, try_no: *try_no });
        state.rests = state.rests.checked_sub(1)?;
        return Some(state);
    }
    let news = |kept: (u8, u8, Answer)| Some(kept).filter(|(_, _, answer)| keeps && *answer != Answer::Unknown);
    let keep = match &run.phase {
        Phase::Ready { .. } if keeps => None,
        // A barrier that got no answer, and whose nonce nobody has kept.
        Phase::Executing { sent: false, .. } if keeps => None,
        Phase::Writing(todo) => todo.live.and_then(news),
        Phase::Answered { slot, try_no, answer } if keeps => news((*slot, *try_no, *answer)),
        Phase::Reload { keep: Some(_), .. } if !keeps => None,
        Phase::Late { slot, try_no, answer, put: false } if !keeps => {
            let (slot, try_no, answer) = (*slot, *try_no, *answer);
            run.phase = Phase::Late { slot, try_no, answer, put: true };
            return Some(state);
        }
        _ => return None,
    };
    run.phase = Phase::Reload { nonce: None, keep };
    Some(state)
}

/// The commit of an answer waits for company, and is lost with it: the step has gone on with the answer,
/// and whatever it wants written is refused, because the log is not what it thinks.
pub(crate) fn linger(config: &Config, state: &State, index: usize, luck: Luck) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    let Phase::Answered { slot, try_no, answer } = run.phase else { return None };
    // What can be asked about, or changed nothing, may linger.
    let may = config.calls[usize::from(slot)] != Class::Opaque || answer == Answer::NotApplied;
    let view = &mut run.view[usize::from(slot)];
    let plan = answered(config, view, slot, try_no, answer, run.cancelled || luck == Luck::Final);
    if !config.free || config.staged || !may || matches!(plan, Plan::Doubt { .. }) {
        return None;
    }
    Todo::new(slot, plan, config).append(view, run.attempt);
    if matches!(plan, Plan::Commit { .. }) {
        run.injected[usize::from(slot)] = Some(answer);
    }
    run.phase = Phase::Ready { fresh: false, nonce: None };
    Some(state)
}

/// A worker with an answer hears that the job is another's, before it has tried to write, or when it does not know what
/// became of its write.
pub(crate) fn hears(config: &Config, state: &State, index: usize) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    // Nothing waits until the failure of a read is durable: its next try may have begun before the refusal came. One
    // try ahead is what is seen; more of them would be too many states to follow.
    if let Phase::Late { slot, try_no, answer: Answer::NotApplied, put: false } = run.phase {
        let (is_read, view) = (config.calls[usize::from(slot)] == Class::Read, &run.view[usize::from(slot)]);
        if !config.free || !is_read || try_no >= config.tries || try_no != view.tries + 1 {
            return None;
        }
        let known = view.first_attempt;
        let (try_no, first_attempt) = (try_no + 1, if known == 0 { run.attempt } else { known });
        run.phase = Phase::Executing { slot, try_no, nonce: nonce(run.attempt, try_no), first_attempt, sent: false };
        return Some(state);
    }
    let (Phase::Answered { slot, try_no, answer } | Phase::Reload { keep: Some((slot, try_no, answer)), .. }) =
        run.phase
    else {
        return None;
    };
    let held = run.attempt == state.job.attempt && state.job.state() == JobState::Running;
    if !config.free || held || answer == Answer::Unknown {
        return None;
    }
    run.phase = Phase::Late { slot, try_no, answer, put: false };
    Some(state)
}

/// A worker has looked into the inbox; what comes now is for another time.
pub(crate) fn looked(config: &Config, state: &State, index: usize) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    if !config.free || run.phase != (Phase::Ready { fresh: true, nonce: None }) {
        return None;
    }
    run.phase = Phase::Ready { fresh: false, nonce: None };
    Some(state)
}

/// A worker gives the job back, or lets it wait for a time.
pub(crate) fn rest(config: &Config, state: &State, index: usize, to: JobState) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.take()?;
    if !config.free || !matches!(run.phase, Phase::Ready { nonce: None, .. }) {
        return None;
    }
    state.rests = state.rests.checked_sub(1)?;
    let run = write(config, &mut state, run, ended(config, 0, to), Luck::Good)?;
    put_back(state, index, run)
}
