//! Environment of workers and calls: claims, crashes, clocks, requests in transit, the world and a person. Each
//! function for a transition returns the next state, or `None` if the transition is not possible.

use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;

use crate::inbox::ModelRequest;
use crate::record::Answer;
use crate::state::{Phase, RequestInTransit, Run, State, TryClock, Violation};
use crate::{Config, ModelClass, Mutant, kernel};

/// An idle worker claims the job as the next attempt.
pub(crate) fn claim(config: &Config, state: &State, index: usize) -> Option<State> {
    let job = &state.job;
    let free = match job.state() {
        JobState::Pending => true,
        // The model does not count the time for which the job waits, so the wait may be over at any moment.
        JobState::Waiting => true,
        JobState::Running => !job.lease_live,
        _ => false,
    };
    if !free || state.workers[index].run.is_some() {
        return None;
    }
    let mut state = state.clone();
    state.job.attempt += 1;
    state.job.lease_live = true;
    state.job.set_state(JobState::Running);
    state.workers[index].run = Some(Run {
        attempt: state.job.attempt,
        current: state.job.attempt,
        view: state.job.records.clone(),
        cancelled: state.job.cancelled,
        phase: Phase::Ready { fresh: true, nonce: None },
        injected: vec![None; config.calls.len()],
    });
    Some(state)
}

/// A worker dies. A new process may continue in its place.
pub(crate) fn crash(state: &State, index: usize) -> Option<State> {
    if state.crashes == 0 || state.workers[index].run.is_none() {
        return None;
    }
    let mut state = state.clone();
    state.crashes -= 1;
    state.workers[index].run = None;
    Some(state)
}

/// The lease expires. If the lease holder is alive, the expiry is a pause of the holder and uses up one of
/// [`Config::pauses`].
pub(crate) fn expire_lease(state: &State) -> Option<State> {
    if !state.job.lease_live || state.job.state() != JobState::Running {
        return None;
    }
    let pauses = state.pauses.checked_sub(u8::from(state.is_holder_alive()))?;
    let mut state = state.clone();
    state.pauses = pauses;
    state.job.lease_live = false;
    Some(state)
}

/// Advances the clock of a try.
pub(crate) fn tick(state: &State, slot: u8, try_no: u8) -> Option<State> {
    let record = &state.job.records[usize::from(slot)];
    let runs =
        |phase: &Phase| matches!(phase, Phase::Executing { slot: of, try_no: n, .. } if (*of, *n) == (slot, try_no));
    let executes = state.workers.iter().filter_map(|worker| worker.run.as_ref()).any(|run| runs(&run.phase));
    // The clock of a committed call matters only while the call is executing.
    if record.committed && !executes {
        return None;
    }
    let to = match state.clock(slot, try_no) {
        TryClock::Live => TryClock::Over,
        TryClock::Over if state.requests_in_transit.iter().any(|wire| (wire.slot, wire.try_no) == (slot, try_no)) => {
            return None;
        }
        TryClock::Over => TryClock::Settled,
        TryClock::Unused | TryClock::Settled => return None,
    };
    let mut state = state.clone();
    state.set_clock(slot, try_no, to);
    Some(state)
}

/// A worker sends the request of its call.
pub(crate) fn send(config: &Config, state: &State, index: usize) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    let attempt = run.attempt;
    let Phase::Executing { slot, try_no, nonce, first_attempt, ref mut sent } = run.phase else {
        return None;
    };
    if *sent {
        return None;
    }
    *sent = true;
    let changes = config.calls[usize::from(slot)] != ModelClass::Read;
    let in_time = matches!(state.clock(slot, try_no), TryClock::Live) || config.lacks(Mutant::LateSend);
    if changes && !in_time {
        return None;
    }
    let record = &state.job.records[usize::from(slot)];
    if changes && (record.tries < try_no || record.tries == try_no && record.opener != (attempt, nonce)) {
        state.record_violation(Violation::NoRecord);
    }
    state.requests_in_transit.push(RequestInTransit { slot, try_no, nonce, key: first_attempt });
    Some(state)
}

/// A call ends without an answer because of its deadline, a trap or a broken connection.
pub(crate) fn stop_call(state: &State, index: usize) -> Option<State> {
    let mut state = state.clone();
    let run = state.workers[index].run.as_mut()?;
    let Phase::Executing { slot, try_no, sent, .. } = run.phase else {
        return None;
    };
    // If the request was not sent, the call certainly changed nothing. If the request was sent, the outcome is unknown.
    let answer = if sent { Answer::Unknown } else { Answer::NotApplied };
    run.phase = Phase::Answered { slot, try_no, answer };
    if state.clock(slot, try_no) == TryClock::Live {
        state.set_clock(slot, try_no, TryClock::Over);
    }
    Some(state)
}

/// A request arrives in the world. Its sender receives the answer if `heard` is true.
pub(crate) fn arrive(config: &Config, state: &State, index: usize, heard: bool) -> Option<State> {
    let mut state = state.clone();
    if index >= state.requests_in_transit.len() {
        return None;
    }
    let wire = state.requests_in_transit.remove(index);
    let world = &mut state.world[usize::from(wire.slot)];
    let known = world.iter().position(|key| *key == wire.key);
    let at = match known.filter(|_| config.calls[usize::from(wire.slot)] == ModelClass::Keyed) {
        Some(at) => at,
        None => {
            world.push(wire.key);
            world.len() - 1
        }
    };
    if heard {
        let value = u8::try_from(at + 1).ok()?;
        let waits = |run: &&mut Run| {
            matches!(run.phase, Phase::Executing { slot, try_no, nonce, sent: true, .. }
                if (slot, try_no, nonce) == (wire.slot, wire.try_no, wire.nonce))
        };
        let run = state.workers.iter_mut().filter_map(|worker| worker.run.as_mut()).find(waits)?;
        run.phase = Phase::Answered { slot: wire.slot, try_no: wire.try_no, answer: Answer::Ok(value) };
    }
    Some(state)
}

/// A request is lost in transit.
pub(crate) fn lose_request(state: &State, index: usize) -> Option<State> {
    let mut state = state.clone();
    if index >= state.requests_in_transit.len() {
        return None;
    }
    state.requests_in_transit.remove(index);
    Some(state)
}

/// A person requests cancellation. A repeated request is possible only while the inbox has fewer than
/// `max_repeated_requests` rows.
pub(crate) fn cancel(config: &Config, state: &State) -> Option<State> {
    let again = state.job.inbox.len() < usize::from(config.max_repeated_requests);
    if !config.cancel || state.job.cancel_flag && !again || state.job.state().is_terminal() {
        return None;
    }
    let mut state = state.clone();
    kernel::add_to_inbox(&mut state.job, ModelRequest::Cancel);
    Some(state)
}

/// A person inspects the world and resolves a call in doubt.
pub(crate) fn resolve(config: &Config, state: &State, slot: u8) -> Option<State> {
    let record = &state.job.records[usize::from(slot)];
    let row = record.row.filter(|row| row.state == RowState::Indeterminate as u8)?;
    let again = state.job.inbox.len() < usize::from(config.max_repeated_requests);
    let asked = !again && state.job.inbox.iter().any(|note| matches!(note, ModelRequest::Resolve { .. }));
    // A call whose final answer is in the log needs no verdict. Its ledger row may still be in doubt, for example after
    // a crash before the row was written.
    if asked || record.committed || state.job.state().is_terminal() {
        return None;
    }
    if state.clock(slot, row.try_no) != TryClock::Settled && !config.lacks(Mutant::VerdictBeforeSettling) {
        return None;
    }
    let applied = state.world[usize::from(slot)].len();
    let seen = (applied > 0).then(|| u8::try_from(applied).unwrap_or(u8::MAX));
    let mut state = state.clone();
    kernel::add_to_inbox(&mut state.job, ModelRequest::Resolve { slot, try_no: row.try_no, found_result: seen });
    Some(state)
}
