//! Hidden moves: moves that a trace does not show. They are the moves of a worker between two writes, and the passage
//! of time. The follower of a trace tries a hidden move only if a later observation may depend on it.

use std::collections::{HashSet, VecDeque};

use stateright::Model;

use latchwork_core::model::job::JobState;

use crate::decision::{Luck, in_doubt};
use crate::observable::matches_database;
use crate::plan::{Plan, nonce};
use crate::state::{Job, Phase, Run, State};
use crate::{Action, Config, ModelClass, Protocol};

/// Returns the index of the worker that runs an attempt.
pub(crate) fn worker_of(state: &State, attempt: u8) -> Option<usize> {
    state.workers.iter().position(|worker| worker.run.as_ref().is_some_and(|run| run.attempt == attempt))
}

fn run_of(state: &State, attempt: u8) -> Option<&Run> {
    state.workers.iter().filter_map(|worker| worker.run.as_ref()).find(|run| run.attempt == attempt)
}

/// Returns true if the run can cause no further observation.
pub(crate) fn is_inert(config: &Config, run: &Run, holder: u8, over: bool) -> bool {
    let idle = match run.phase {
        // A run in this phase can cause a later observation in three cases. In the first case, the run asks a tool
        // about a call. In the second case, the run makes a read, and a read is observed together with its answer. The
        // third case needs staged commit: the run writes a person's decision into the effect store, and the effect
        // store does not check the attempt. In all other cases, the run is idle.
        Phase::Ready { .. } => {
            let mut left = run.injected.iter().zip(&config.calls).filter(|(answer, _)| answer.is_none());
            let looks = left.any(|(_, class)| matches!(class, ModelClass::Read | ModelClass::Queryable));
            let claims = config.staged && run.view.iter().any(in_doubt);
            !looks && !claims
        }
        Phase::Reload { held_answer: keep, .. } => keep.is_none(),
        _ => false,
    };
    over || idle && run.attempt < holder
}

/// Returns the moves of one run that leave the database unchanged, each with its cost. If the run waits for a try, also
/// returns the moves of this try's clock and of its requests in transit.
fn hidden_moves(model: &Protocol, state: &State, attempt: u8) -> Vec<(u32, State)> {
    let Some(index) = worker_of(state, attempt) else { return Vec::new() };
    let Some(own) = run_of(state, attempt) else { return Vec::new() };
    let mut moves = Vec::new();
    let now = state.job.observable();
    let mut take = |cost: u32, action: Action| {
        let next = model.next_state(state, action).filter(|next| next.job.observable() == now);
        moves.extend(next.filter(|next| !is_reconcile_asked(state, next, attempt)).map(|next| (cost, next)));
    };
    for luck in [Luck::Good, Luck::Inconclusive, Luck::Final] {
        take(0, Action::Turn(index, luck));
    }
    take(1, Action::InboxRead(index));
    take(1, Action::LearnLeaseLost(index));
    take(1, Action::Stop(index));
    take(2, Action::Reload(index, true));
    take(3, Action::Reload(index, false));
    take(3, Action::LoseDeferredCommit(index, Luck::Good));
    take(3, Action::LoseDeferredCommit(index, Luck::Final));
    // Only a run that waits for a try advances the clock.
    let waits = matches!(own.phase, Phase::Ready { .. });
    if let Some(slot) = own.injected.iter().position(Option::is_none).filter(|_| waits) {
        let row = own.view[slot].row;
        let slot = u8::try_from(slot).unwrap_or_default();
        if let Some(try_no) = row.map(|row| row.try_no) {
            let wires = (0..state.requests_in_transit.len()).filter(|wire| {
                let wire = state.requests_in_transit[*wire];
                (wire.slot, wire.try_no) == (slot, try_no)
            });
            wires.for_each(|wire| take(5, Action::LoseRequest(wire)));
            take(4, Action::Tick(slot, try_no));
        }
    }
    moves
}

/// Returns true if the worker asked a tool to reconcile a call between the two states. A trace shows this question, so
/// the move is not hidden.
fn is_reconcile_asked(before: &State, after: &State, attempt: u8) -> bool {
    let ready = run_of(before, attempt).is_some_and(|run| matches!(run.phase, Phase::Ready { .. }));
    ready
        && run_of(after, attempt).is_some_and(|run| match run.phase {
            Phase::Writing(todo) => matches!(todo.plan, Plan::Applied { .. } | Plan::NotApplied { .. }),
            _ => false,
        })
}

/// Returns all states that hidden moves of one run reach, the cheapest first.
fn closure(model: &Protocol, state: &State, attempt: u8) -> Vec<State> {
    let mut known: HashSet<State> = HashSet::new();
    let mut levels: Vec<VecDeque<State>> = vec![VecDeque::from([state.clone()])];
    let mut found = Vec::new();
    let mut level = 0;
    while level < levels.len() {
        let Some(state) = levels[level].pop_front() else {
            level += 1;
            continue;
        };
        if !known.insert(state.clone()) {
            continue;
        }
        for (cost, next) in hidden_moves(model, &state, attempt) {
            if !known.contains(&next) {
                let to = level + cost as usize;
                levels.resize_with(levels.len().max(to + 1), VecDeque::new);
                levels[to].push_back(next);
            }
        }
        found.push(state);
    }
    found
}

/// Returns a copy of the state without clocks, requests in transit and fault counters.
fn without_time(state: &State) -> State {
    let mut state = state.clone();
    state.clocks.clear();
    state.requests_in_transit.clear();
    (state.crashes, state.pauses, state.suspensions) = (0, 0, 0);
    state
}

/// Set of states. If several states differ only in clocks, requests in transit and fault counters, the set keeps the
/// state that was inserted first.
#[derive(Default)]
struct EarliestStates(HashSet<State>, Vec<State>);

impl EarliestStates {
    fn insert(&mut self, state: State) {
        if self.0.insert(without_time(&state)) {
            self.1.push(state);
        }
    }
}

/// Returns the states in which the lease holder has reloaded the job or read its inbox.
pub(crate) fn states_after_load(model: &Protocol, state: &State) -> Vec<State> {
    let holder = state.job.attempt;
    let mut all = vec![state.clone()];
    let mut at = 0;
    while at < all.len() {
        let state = all[at].clone();
        at += 1;
        let Some(index) = worker_of(&state, holder) else { continue };
        let Some(own) = run_of(&state, holder) else { continue };
        let actions: &[Action] = match own.phase {
            // In this turn the worker first stores the answer that it holds. If the effect store already has
            // the answer, the database does not change.
            Phase::Reload { .. } => &[Action::Turn(index, Luck::Good)],
            Phase::Ready { fresh: true, .. } => &[Action::InboxRead(index), Action::Reload(index, true)],
            Phase::Ready { .. } => &[Action::Reload(index, true)],
            _ => &[],
        };
        for next in actions.iter().filter_map(|action| model.next_state(&state, *action)) {
            if !all.contains(&next) && next.job.observable() == state.job.observable() {
                all.push(next);
            }
        }
    }
    all
}

/// Returns the states after a write of the run that leaves the database equal to `job`.
pub(crate) fn states_after_write(
    model: &Protocol,
    state: &State,
    attempt: u8,
    job: &Job,
    expected: &mut HashSet<String>,
) -> Vec<State> {
    let mut found = EarliestStates::default();
    for state in closure(model, state, attempt) {
        let Some(index) = worker_of(&state, attempt) else { continue };
        let actions = [
            Action::Turn(index, Luck::Good),
            Action::Turn(index, Luck::Inconclusive),
            Action::Turn(index, Luck::Final),
            Action::Drain(index, Luck::Good),
            Action::Drain(index, Luck::Final),
            Action::Suspend(index, JobState::Waiting),
            Action::Suspend(index, JobState::Pending),
            // The worker adds the inbox row of a late answer a second time, because its first write of the row
            // was not acknowledged.
            Action::Reload(index, true),
        ];
        // If the acknowledgement of the write is lost, the worker reloads the job. A worker that holds an answer of a
        // tool keeps the answer during the reload, so this case needs a state of its own. For a worker without an
        // answer, a successful write and a reload lead to the same state.
        let has_answer = run_of(&state, attempt).is_some_and(|run| match &run.phase {
            Phase::Answered { .. } => true,
            Phase::Writing(todo) => todo.held_answer.is_some(),
            _ => false,
        });
        let unheard = has_answer.then_some(Action::Turn(index, Luck::LostAfter));
        for next in actions.into_iter().chain(unheard).filter_map(|action| model.next_state(&state, action)) {
            if matches_database(&next, job, expected) {
                found.insert(next);
            }
        }
    }
    found.1
}

/// Returns the states after the run has sent this request.
pub(crate) fn states_after_send(
    model: &Protocol,
    state: &State,
    (by, slot, try_no, key): (u8, u8, u8, u8),
) -> Vec<State> {
    let mut found = EarliestStates::default();
    for state in closure(model, state, by) {
        let Some(index) = worker_of(&state, by) else { continue };
        let about = run_of(&state, by).map(|run| run.phase.clone());
        let Some(Phase::Executing { slot: of, try_no: n, first_attempt, .. }) = about else { continue };
        if (of, n, first_attempt) == (slot, try_no, key) {
            model.next_state(&state, Action::Send(index)).into_iter().for_each(|next| found.insert(next));
        }
    }
    found.1
}

/// Returns the states after a request has arrived: a state in which the sender receives the answer, and a state in
/// which the sender does not receive it.
pub(crate) fn states_after_arrival(
    model: &Protocol,
    state: &State,
    (by, slot, try_no, value): (u8, u8, u8, u8),
) -> Vec<State> {
    let own = (slot, try_no, nonce(by, try_no));
    let Some(wire) = state.requests_in_transit.iter().position(|wire| (wire.slot, wire.try_no, wire.nonce) == own)
    else {
        return Vec::new();
    };
    let (key, world) = (state.requests_in_transit[wire].key, &state.world[usize::from(slot)]);
    let known = world.iter().position(|known| *known == key);
    let keyed = model.0.calls[usize::from(slot)] == ModelClass::Keyed;
    let at = known.filter(|_| keyed).unwrap_or(world.len());
    if at + 1 != usize::from(value) {
        return Vec::new();
    }
    [true, false].into_iter().filter_map(|heard| model.next_state(state, Action::Arrive(wire, heard))).collect()
}

/// Returns the states after a worker has asked a tool to reconcile a call. For each state before the question, there
/// are two states: one in which the worker uses the tool's answer, and one in which the worker ignores this answer.
pub(crate) fn states_after_reconcile(
    model: &Protocol,
    state: &State,
    (by, slot, happened): (u8, u8, Option<u8>),
) -> Vec<State> {
    let mut found = EarliestStates::default();
    for state in closure(model, state, by) {
        let Some(index) = worker_of(&state, by) else { continue };
        let Some(next) = model.next_state(&state, Action::Turn(index, Luck::Good)) else { continue };
        if !is_reconcile_asked(&state, &next, by) {
            continue;
        }
        let stated = run_of(&next, by).and_then(|run| match run.phase {
            Phase::Writing(todo) if todo.slot == slot => Some(todo.plan),
            _ => None,
        });
        let agrees = match stated {
            Some(Plan::Applied { value, .. }) => happened == Some(value),
            Some(Plan::NotApplied { .. }) => happened.is_none(),
            _ => false,
        };
        if agrees {
            found.insert(next);
            found.insert(state);
        }
    }
    found.1
}

/// Returns the state after `action`, an action of a person on a call. The action may require that the settling time of
/// the call has passed. Until the action is possible, this function advances the clock of the try and drops its
/// requests in transit.
pub(crate) fn state_after_settling(model: &Protocol, state: &State, slot: u8, action: Action) -> Option<State> {
    let try_no = state.job.records[usize::from(slot)].row?.try_no;
    let mut state = state.clone();
    loop {
        if let Some(next) = model.next_state(&state, action) {
            return Some(next);
        }
        let on_its_way = |wire: &crate::RequestInTransit| (wire.slot, wire.try_no) == (slot, try_no);
        let lost = state.requests_in_transit.iter().position(on_its_way);
        let tick = || model.next_state(&state, Action::Tick(slot, try_no));
        state = tick().or_else(|| lost.and_then(|wire| model.next_state(&state, Action::LoseRequest(wire))))?;
    }
}
