//! The model as [`stateright`] searches it: actions and properties.

use stateright::{Model, Property};

use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;

use crate::decision::Luck;
use crate::inbox::ModelRequest;
use crate::record::{Answer, Record, TRIES, Verdict};
use crate::state::{Phase, State, Violation};
use crate::{Config, ModelClass, environment, own_pace, worker};

/// The protocol in one configured world.
#[derive(Clone, Debug)]
pub struct Protocol(pub Config);

/// One transition of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A worker claims the job.
    Claim(usize),
    /// A worker makes a decision and writes.
    Turn(usize, Luck),
    /// A worker applies a request from the inbox.
    Drain(usize, Luck),
    /// A worker sends its request.
    Send(usize),
    /// A worker's call ends without an answer.
    Stop(usize),
    /// A worker dies.
    Crash(usize),
    /// The lease expires.
    LeaseExpired,
    /// The clock of a try advances.
    Tick(u8, u8),
    /// A request arrives in the world. The flag is true if its sender receives the answer.
    Arrive(usize, bool),
    /// A request is lost in transit.
    LoseRequest(usize),
    /// A worker reloads the job, or aborts its current work, for a reason outside the model. The flag is true
    /// if the worker keeps its answer.
    Reload(usize, bool),
    /// A worker continues with an answer whose deferred commit will be lost.
    LoseDeferredCommit(usize, Luck),
    /// A worker with an answer learns that it has lost the job.
    LearnLeaseLost(usize),
    /// A worker has read the inbox.
    InboxRead(usize),
    /// A worker releases the job, or lets the job wait for a time.
    Suspend(usize, JobState),
    /// A person requests cancellation.
    Cancel,
    /// A person resolves an invocation in doubt.
    Resolve(u8),
}

/// Names of the properties that must hold in every state.
pub const PROPERTIES: [&str; 10] = [
    "the world changes at most once",
    "nothing is sent without a start record",
    "a superseded attempt changes nothing",
    "injected answers equal recorded answers",
    "an answer is never lost",
    "a cancelled job starts nothing",
    "one final answer",
    "answers are true",
    "one permission at a time",
    "a person's decision takes effect",
];

/// Name of the property that must hold at the end of every path.
pub const ENDS: &str = "every job ends";

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::initial(&self.0)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (index, worker) in state.workers.iter().enumerate() {
            // Identical workers have the same actions, so the search lets only one of them act.
            if index > 0 && state.workers[index - 1] == *worker {
                continue;
            }
            let Some(run) = &worker.run else {
                actions.push(Action::Claim(index));
                continue;
            };
            actions.push(Action::Crash(index));
            if self.0.own_pace {
                actions.extend([Action::Reload(index, true), Action::Reload(index, false)]);
                actions.extend([Action::LearnLeaseLost(index), Action::InboxRead(index)]);
                actions.extend([JobState::Pending, JobState::Waiting].map(|to| Action::Suspend(index, to)));
                for luck in [Luck::Good, Luck::Final] {
                    actions.extend([
                        Action::Turn(index, luck),
                        Action::Drain(index, luck),
                        Action::LoseDeferredCommit(index, luck),
                    ]);
                }
            }
            if matches!(run.phase, Phase::Executing { .. }) {
                actions.extend([Action::Send(index), Action::Stop(index)]);
                continue;
            }
            let mut lucks = vec![Luck::Good];
            if state.lost_commits > 0 {
                lucks.extend([Luck::LostBefore, Luck::LostAfter]);
            }
            for luck in lucks {
                actions.push(Action::Turn(index, luck));
                if !state.job.inbox.is_empty() {
                    actions.push(Action::Drain(index, luck));
                }
            }
            if self.0.inconclusive_answers {
                actions.push(Action::Turn(index, Luck::Inconclusive));
            }
        }
        actions.push(Action::LeaseExpired);
        for slot in (0u8..).take(self.0.calls.len()) {
            actions.extend((1u8..).take(TRIES).map(|try_no| Action::Tick(slot, try_no)));
            actions.push(Action::Resolve(slot));
        }
        for wire in 0..state.requests_in_transit.len() {
            actions.extend([Action::Arrive(wire, true), Action::Arrive(wire, false), Action::LoseRequest(wire)]);
        }
        actions.push(Action::Cancel);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let config = &self.0;
        let next = match action {
            Action::Claim(index) => environment::claim(config, state, index),
            Action::Turn(index, luck) => worker::turn(config, state, index, luck),
            Action::Drain(index, luck) => worker::drain(config, state, index, luck),
            Action::Send(index) => environment::send(config, state, index),
            Action::Stop(index) => environment::stop_call(state, index),
            Action::Crash(index) => environment::crash(state, index),
            Action::LeaseExpired => environment::expire_lease(state),
            Action::Tick(slot, try_no) => environment::tick(state, slot, try_no),
            Action::Arrive(index, heard) => environment::arrive(config, state, index, heard),
            Action::LoseRequest(index) => environment::lose_request(state, index),
            Action::Reload(index, keep) => own_pace::reload(config, state, index, keep),
            Action::LoseDeferredCommit(index, luck) => own_pace::lose_deferred_commit(config, state, index, luck),
            Action::LearnLeaseLost(index) => own_pace::learn_lease_lost(config, state, index),
            Action::InboxRead(index) => own_pace::mark_inbox_read(config, state, index),
            Action::Suspend(index, to) => own_pace::suspend(config, state, index, to),
            Action::Cancel => environment::cancel(config, state),
            Action::Resolve(slot) => environment::resolve(config, state, slot),
        };
        next.map(State::sorted)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let [once, record, stale, injected, place, cancelled, one, truth, permission, heard] = PROPERTIES;
        let mut properties = vec![
            // Property of guarantee I80.
            Property::always(once, |model: &Self, state: &State| {
                let changes = |(class, keys): (&ModelClass, &Vec<u8>)| *class == ModelClass::Read || keys.len() <= 1;
                model.0.calls.iter().zip(&state.world).all(changes)
            }),
            // Properties of guarantee I81.
            Property::always(record, |_, state: &State| !state.has_violation(Violation::NoRecord)),
            Property::always(stale, |_, state: &State| !state.has_violation(Violation::StaleWrite)),
            Property::always(permission, |_, state: &State| one_permission(state)),
            // Properties of guarantee I82.
            Property::always(injected, |_, state: &State| !state.has_violation(Violation::DifferentAnswer)),
            Property::always(place, |_, state: &State| !state.has_violation(Violation::AnswerLost)),
            Property::always(cancelled, |_, state: &State| !state.has_violation(Violation::StartedAfterCancel)),
            Property::always(one, |_, state: &State| !state.has_violation(Violation::SecondCommit)),
            Property::always(truth, |model: &Self, state: &State| is_true(model, state)),
            // Properties of guarantee I83.
            Property::always(heard, |_, state: &State| !state.has_violation(Violation::DecisionNotApplied)),
            Property::eventually(ENDS, |_, state: &State| state.job.state().is_terminal()),
        ];
        properties.extend(self.required_states());
        properties
    }
}

impl Protocol {
    /// Returns properties that must hold in at least one reached state. Because of these properties, the search fails
    /// if the model does nothing.
    fn required_states(&self) -> Vec<Property<Self>> {
        type Seen = fn(&Protocol, &State) -> bool;
        let config = &self.0;
        let changing = config.calls[0] != ModelClass::Read;
        let faults = config.crashes + config.pauses > 0;
        let all: [(&'static str, bool, Seen); 9] = [
            ("the job completes", true, |_, state| state.job.state() == JobState::Completed),
            ("window 2", changing && faults, |_, state| {
                in_crash_window(state, |r| inflight(r) && !answered(r) && !r.committed)
            }),
            ("window 3", changing && (config.pauses > 0 || config.staged && config.crashes > 0), |_, state| {
                in_crash_window(state, |r| inflight(r) && answered(r) && !r.committed)
            }),
            ("window 4", changing && faults && config.staged, |_, state| {
                in_crash_window(state, |r| inflight(r) && r.committed)
            }),
            ("window 5", changing && faults, |_, state| in_crash_window(state, |r| has_state(r, RowState::Committed))),
            ("a late answer", changing && config.pauses > 0, |_, state| {
                state.job.inbox.iter().any(|note| matches!(note, ModelRequest::Late { .. }))
            }),
            ("a person decides", config.calls[0] == ModelClass::Opaque, |_, state| {
                state.job.state() != JobState::Parked
                    && state.job.inbox.iter().any(|note| matches!(note, ModelRequest::Resolve { .. }))
            }),
            ("a repeat under the key", config.calls[0] == ModelClass::Keyed, |_, state| {
                state.job.records.iter().any(|r| r.verdicts[0] == Some(Verdict::Repeat) && r.committed)
            }),
            ("a tool is asked", config.calls[0] == ModelClass::Queryable, |_, state| {
                state.job.records.iter().any(|r| r.verdicts[0] == Some(Verdict::NotApplied) && r.tries > 1)
            }),
        ];
        let wanted = all.into_iter().filter(|(_, wanted, _)| *wanted);
        wanted.map(|(name, _, seen)| Property::sometimes(name, seen)).collect()
    }
}

fn has_state(record: &Record, state: RowState) -> bool {
    record.row.is_some_and(|row| row.state == state as u8)
}

fn inflight(record: &Record) -> bool {
    has_state(record, RowState::Inflight)
}

fn answered(record: &Record) -> bool {
    record.open_try().is_some_and(|open| record.effect(open).is_some())
}

/// Returns true if the job is running and `found` holds for an invocation whose row belongs to an earlier
/// attempt.
fn in_crash_window(state: &State, found: fn(&Record) -> bool) -> bool {
    let of_old = |record: &&Record| record.row.is_some_and(|row| row.attempt < state.job.attempt);
    state.job.state() == JobState::Running && state.job.records.iter().filter(of_old).any(found)
}

/// Returns true if, for each invocation, at most one worker can still send a request.
fn one_permission(state: &State) -> bool {
    let executing = state.workers.iter().filter_map(|worker| match worker.run.as_ref()?.phase {
        Phase::Executing { slot, try_no, sent: false, .. } => Some((slot, try_no)),
        _ => None,
    });
    let may: Vec<u8> = executing
        .filter(|(slot, try_no)| state.clock(*slot, *try_no) == crate::state::TryClock::Live)
        .map(|(slot, _)| slot)
        .collect();
    may.iter().enumerate().all(|(at, slot)| !may[..at].contains(slot))
}

/// Returns true if recorded answers match the world. A call with a recorded result must have happened. A call
/// recorded as not applied must not have happened, and must not be able to happen later.
fn is_true(model: &Protocol, state: &State) -> bool {
    let calls = model.0.calls.iter().zip(&state.job.records).zip(&state.world);
    calls.filter(|((class, _), _)| **class != ModelClass::Read).all(|((_, record), world)| match record.answer() {
        Some(Answer::Ok(value)) => usize::from(value) <= world.len(),
        Some(Answer::NotApplied) => world.is_empty(),
        _ => true,
    })
}
