//! What nobody sees: the moves of workers between two writes, and of time, as far as they lead somewhere.

use std::collections::{HashSet, VecDeque};

use latchwork_core::job::JobState;
use stateright::Model;

use crate::accept::is;
use crate::plan::{Plan, nonce};
use crate::state::{Job, Phase, Run, State};
use crate::worker::{Luck, in_doubt};
use crate::{Action, Class, Config, Protocol};

/// The worker that runs an attempt.
pub(crate) fn of(state: &State, attempt: u8) -> Option<usize> {
    state.workers.iter().position(|worker| worker.run.as_ref().is_some_and(|run| run.attempt == attempt))
}

fn run(state: &State, attempt: u8) -> Option<&Run> {
    state.workers.iter().filter_map(|worker| worker.run.as_ref()).find(|run| run.attempt == attempt)
}

/// Whether a run can do nothing any more that is seen.
pub(crate) fn is_done(config: &Config, run: &Run, holder: u8, over: bool) -> bool {
    let idle = match run.phase {
        // It may look at something still, which is seen only with the answer, or ask. In a staged commit a
        // person's word that it has read claims its place in the effect store, which asks for no attempt.
        Phase::Ready { .. } => {
            let mut left = run.injected.iter().zip(&config.calls).filter(|(answer, _)| answer.is_none());
            let looks = left.any(|(_, class)| matches!(class, Class::Read | Class::Queryable));
            let claims = config.staged && run.view.iter().any(in_doubt);
            !looks && !claims
        }
        Phase::Reload { keep, .. } => keep.is_none(),
        _ => false,
    };
    over || idle && run.attempt < holder
}

/// Moves of one run, and of the time of its call, that leave the database as it is.
fn hidden(model: &Protocol, state: &State, attempt: u8) -> Vec<(u32, State)> {
    let Some(index) = of(state, attempt) else { return Vec::new() };
    let Some(own) = run(state, attempt) else { return Vec::new() };
    let mut moves = Vec::new();
    let now = state.job.seen();
    let mut take = |cost: u32, action: Action| {
        let next = model.next_state(state, action).filter(|next| next.job.seen() == now);
        moves.extend(next.filter(|next| !asks_now(state, next, attempt)).map(|next| (cost, next)));
    };
    for luck in [Luck::Good, Luck::Shrug, Luck::Final] {
        take(0, Action::Turn(index, luck));
    }
    take(1, Action::Looked(index));
    take(1, Action::Hear(index));
    take(1, Action::Stop(index));
    take(2, Action::Again(index, true));
    take(3, Action::Again(index, false));
    take(3, Action::Linger(index, Luck::Good));
    take(3, Action::Linger(index, Luck::Final));
    // Only who waits for a try makes time pass.
    let waits = matches!(own.phase, Phase::Ready { .. });
    if let Some(slot) = own.injected.iter().position(Option::is_none).filter(|_| waits) {
        let row = own.view[slot].row;
        let slot = u8::try_from(slot).unwrap_or_default();
        if let Some(try_no) = row.map(|row| row.try_no) {
            let wires = (0..state.wires.len()).filter(|wire| {
                let wire = state.wires[*wire];
                (wire.slot, wire.try_no) == (slot, try_no)
            });
            wires.for_each(|wire| take(5, Action::Lose(wire)));
            take(4, Action::Tick(slot, try_no));
        }
    }
    moves
}

/// Whether a tool was asked in between: that is seen.
fn asks_now(before: &State, after: &State, attempt: u8) -> bool {
    let ready = run(before, attempt).is_some_and(|run| matches!(run.phase, Phase::Ready { .. }));
    ready
        && run(after, attempt).is_some_and(|run| match run.phase {
            Phase::Writing(todo) => matches!(todo.plan, Plan::Applied { .. } | Plan::NotApplied { .. }),
            _ => false,
        })
}

/// Everything that hidden moves of one run come to, the nearest first.
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
        for (cost, next) in hidden(model, &state, attempt) {
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

/// The same but for time and wires.
fn timeless(state: &State) -> State {
    let mut state = state.clone();
    state.clocks.clear();
    state.wires.clear();
    (state.crashes, state.pauses, state.rests) = (0, 0, 0);
    state
}

/// Of states that differ in nothing but how much time has passed, the first.
#[derive(Default)]
struct First(HashSet<State>, Vec<State>);

impl First {
    fn put(&mut self, state: State) {
        if self.0.insert(timeless(&state)) {
            self.1.push(state);
        }
    }
}

/// The holder may have loaded by now, or looked into its inbox.
pub(crate) fn loads(model: &Protocol, state: &State) -> Vec<State> {
    let holder = state.job.attempt;
    let mut all = vec![state.clone()];
    let mut at = 0;
    while at < all.len() {
        let state = all[at].clone();
        at += 1;
        let Some(index) = of(&state, holder) else { continue };
        let Some(own) = run(&state, holder) else { continue };
        let actions: &[Action] = match own.phase {
            // Whoever keeps an answer that is there already puts nothing new there.
            Phase::Reload { .. } => &[Action::Turn(index, Luck::Good)],
            Phase::Ready { fresh: true, .. } => &[Action::Looked(index), Action::Again(index, true)],
            Phase::Ready { .. } => &[Action::Again(index, true)],
            _ => &[],
        };
        for next in actions.iter().filter_map(|action| model.next_state(&state, *action)) {
            if !all.contains(&next) && next.job.seen() == state.job.seen() {
                all.push(next);
            }
        }
    }
    all
}

/// A run writes, and the database looks so.
pub(crate) fn writes(
    model: &Protocol,
    state: &State,
    attempt: u8,
    job: &Job,
    expected: &mut HashSet<String>,
) -> Vec<State> {
    let mut found = First::default();
    for state in closure(model, state, attempt) {
        let Some(index) = of(&state, attempt) else { continue };
        let actions = [
            Action::Turn(index, Luck::Good),
            Action::Turn(index, Luck::Shrug),
            Action::Turn(index, Luck::Final),
            Action::Drain(index, Luck::Good),
            Action::Drain(index, Luck::Final),
            Action::Rest(index, JobState::Waiting),
            Action::Rest(index, JobState::Pending),
            // It tells once more.
            Action::Again(index, true),
        ];
        // A write whose answer is lost is a good one, and a worker that loads again; where it has an answer in hand,
        // it keeps that.
        let has_answer = run(&state, attempt).is_some_and(|run| match &run.phase {
            Phase::Answered { .. } => true,
            Phase::Writing(todo) => todo.live.is_some(),
            _ => false,
        });
        let unheard = has_answer.then_some(Action::Turn(index, Luck::LostAfter));
        for next in actions.into_iter().chain(unheard).filter_map(|action| model.next_state(&state, action)) {
            if is(&next, job, expected) {
                found.put(next);
            }
        }
    }
    found.1
}

/// A request leaves.
pub(crate) fn sends(model: &Protocol, state: &State, (by, slot, try_no, key): (u8, u8, u8, u8)) -> Vec<State> {
    let mut found = First::default();
    for state in closure(model, state, by) {
        let Some(index) = of(&state, by) else { continue };
        let about = run(&state, by).map(|run| run.phase.clone());
        let Some(Phase::Executing { slot: of, try_no: n, first_attempt, .. }) = about else { continue };
        if (of, n, first_attempt) == (slot, try_no, key) {
            model.next_state(&state, Action::Send(index)).into_iter().for_each(|next| found.put(next));
        }
    }
    found.1
}

/// A request arrives, and its sender hears of it or not.
pub(crate) fn lands(model: &Protocol, state: &State, (by, slot, try_no, value): (u8, u8, u8, u8)) -> Vec<State> {
    let own = (slot, try_no, nonce(by, try_no));
    let Some(wire) = state.wires.iter().position(|wire| (wire.slot, wire.try_no, wire.nonce) == own) else {
        return Vec::new();
    };
    let (key, world) = (state.wires[wire].key, &state.world[usize::from(slot)]);
    let known = world.iter().position(|known| *known == key);
    let keyed = model.0.calls[usize::from(slot)] == Class::Keyed;
    let at = known.filter(|_| keyed).unwrap_or(world.len());
    if at + 1 != usize::from(value) {
        return Vec::new();
    }
    [true, false].into_iter().filter_map(|heard| model.next_state(state, Action::Land(wire, heard))).collect()
}

/// A tool is asked; it says what it knows, or nothing of use.
pub(crate) fn asks(model: &Protocol, state: &State, (by, slot, happened): (u8, u8, Option<u8>)) -> Vec<State> {
    let mut found = First::default();
    for state in closure(model, state, by) {
        let Some(index) = of(&state, by) else { continue };
        let Some(next) = model.next_state(&state, Action::Turn(index, Luck::Good)) else { continue };
        if !asks_now(&state, &next, by) {
            continue;
        }
        let said = run(&next, by).and_then(|run| match run.phase {
            Phase::Writing(todo) if todo.slot == slot => Some(todo.plan),
            _ => None,
        });
        let agrees = match said {
            Some(Plan::Applied { value, .. }) => happened == Some(value),
            Some(Plan::NotApplied { .. }) => happened.is_none(),
            _ => false,
        };
        if agrees {
            found.put(next);
            found.put(state);
        }
    }
    found.1
}

/// What a person does about a call, once the world has settled.
pub(crate) fn settled(model: &Protocol, state: &State, slot: u8, action: Action) -> Option<State> {
    let try_no = state.job.records[usize::from(slot)].row?.try_no;
    let mut state = state.clone();
    loop {
        if let Some(next) = model.next_state(&state, action) {
            return Some(next);
        }
        let on_its_way = |wire: &crate::Wire| (wire.slot, wire.try_no) == (slot, try_no);
        let lost = state.wires.iter().position(on_its_way);
        let tick = || model.next_state(&state, Action::Tick(slot, try_no));
        state = tick().or_else(|| lost.and_then(|wire| model.next_state(&state, Action::Lose(wire))))?;
    }
}
