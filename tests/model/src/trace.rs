//! Follows a trace of workers through the model. After each observation, the follower holds the set of states
//! that the model can be in. If the set is empty, the trace is not a behaviour of the protocol.
//!
//! The following are observations:
//!
//! * a claim, write or request that changes the database,
//! * a write that the store refused,
//! * the sending and the arrival of a request to the world,
//! * a reconcile request to a tool,
//! * the death of a process.
//!
//! Moves inside workers and the passage of time are not observed. The follower accepts any of these moves that explains
//! the next observation.

use std::collections::HashSet;
use std::fmt;

use stateright::Model;

use latchwork_core::model::job::JobState;

use crate::observable::matches_database;
use crate::state::{Job, Phase, Run, State};
use crate::{Action, Config, ModelClass, Protocol, hidden_moves};

/// Maximum number of states in the set. A trace that needs more states is not followed to its end.
const MAX_STATES: usize = 16_000;

/// One observation of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The job was claimed.
    Claimed {
        /// The database after the claim.
        job: Job,
    },
    /// A worker wrote one of three things: a batch, an answer in the effect store, or a late answer in the inbox of the
    /// lease holder.
    Wrote {
        /// Attempts that may have written. All of them belong to one process.
        by: Vec<u8>,
        /// The database after the write.
        job: Job,
    },
    /// A person made a request.
    RequestMade {
        /// The database after the request.
        job: Job,
    },
    /// The store refused a write.
    Refused {
        /// Attempt that wrote.
        by: u8,
        /// Reason of the refusal.
        why: ObservedRefusal,
    },
    /// A request to the world was sent.
    Sent {
        /// Attempt that sent the request.
        by: u8,
        /// Slot of the invocation.
        slot: u8,
        /// Number of the try.
        try_no: u8,
        /// Attempt in the external key.
        key: u8,
    },
    /// A request arrived in the world and was answered.
    Arrived {
        /// Attempt that sent the request.
        by: u8,
        /// Slot of the invocation.
        slot: u8,
        /// Number of the try.
        try_no: u8,
        /// Result in the answer.
        value: u8,
    },
    /// A worker asked a tool to reconcile a call.
    ReconcileAsked {
        /// Attempt that asked.
        by: u8,
        /// Slot of the invocation.
        slot: u8,
        /// Result of the call in the world, or `None` if it did not happen.
        happened: Option<u8>,
    },
    /// A process died.
    Died {
        /// Attempts of the process.
        attempts: Vec<u8>,
    },
}

/// Reason why a write was refused. A refusal for any other reason is not an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedRefusal {
    /// Another attempt holds the job.
    Fenced,
    /// No attempt holds the job.
    NotHeld,
    /// Cancellation was requested.
    Cancelled,
    /// The inbox contains a request that must be applied first.
    InboxPending,
}

/// Statistics of a followed trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceStatistics {
    /// Largest number of states in the set.
    pub max_states: usize,
    /// Number of states in the set at the end.
    pub final_states: usize,
}

/// Error for a trace that is not a behaviour of the model or cannot be followed to its end.
#[derive(Clone, Debug)]
pub struct TraceRejection {
    /// True if the set of states became too large. False if the set became empty.
    pub too_many_states: bool,
    /// Index of the observation, from 0.
    pub index: usize,
    /// The observation.
    pub observation: Observation,
    /// Observations of the same kind that the model would have allowed instead.
    pub expected: Vec<String>,
    /// States before the observation.
    pub before: Vec<State>,
}

impl fmt::Display for TraceRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "number {}, seen: {:?}", self.index, self.observation)?;
        if self.too_many_states {
            writeln!(f, "  more than {MAX_STATES} states at once")?;
        }
        for expected in &self.expected {
            writeln!(f, "  expected: {expected}")?;
        }
        for state in self.before.iter().take(3) {
            writeln!(f, "  before: {state:?}")?;
        }
        Ok(())
    }
}

/// Follows a trace through the model.
///
/// # Errors
/// Returns the first observation that no state of the model explains.
pub fn check_trace(config: &Config, trace: &[Observation]) -> Result<TraceStatistics, Box<TraceRejection>> {
    let model = Protocol(unlimited_faults(config, trace));
    let mut frontier = model.init_states();
    let mut followed = TraceStatistics::default();
    for (at, seen) in trace.iter().enumerate() {
        let mut expected = HashSet::new();
        let mut next: Vec<State> = Vec::new();
        let mut known = HashSet::new();
        for state in frontier.iter().flat_map(|state| states_before(&model, state, seen)) {
            for reached in successors(&model, &state, seen, &mut expected) {
                let reached = canonical(&model.0, reached);
                if invariants_hold(&model.0, &reached) && known.insert(reached.clone()) {
                    next.push(reached);
                }
            }
        }
        if next.is_empty() || next.len() > MAX_STATES {
            let outgrown = !next.is_empty();
            let mut expected: Vec<String> = expected.into_iter().collect();
            expected.sort();
            return Err(Box::new(TraceRejection {
                too_many_states: outgrown,
                index: at,
                observation: seen.clone(),
                expected,
                before: frontier,
            }));
        }
        frontier = next;
        followed.max_states = followed.max_states.max(frontier.len());
    }
    followed.final_states = frontier.len();
    Ok(followed)
}

/// Returns the configuration for a trace: the number of faults is not limited, and workers act at their own
/// pace.
fn unlimited_faults(config: &Config, trace: &[Observation]) -> Config {
    let claims = trace.iter().filter(|seen| matches!(seen, Observation::Claimed { .. })).count();
    Config {
        workers: claims + 1,
        crashes: u8::MAX,
        pauses: u8::MAX,
        suspensions: u8::MAX,
        lost_commits: u8::MAX,
        cancel: true,
        inconclusive_answers: true,
        own_pace: true,
        max_repeated_requests: u8::MAX,
        ..config.clone()
    }
}

/// Reduces a state to a canonical form. Resets the fault counters, and removes runs that can cause no further
/// observation.
fn canonical(config: &Config, mut state: State) -> State {
    (state.crashes, state.pauses, state.suspensions) = (config.crashes, config.pauses, config.suspensions);
    state.lost_commits = config.lost_commits;
    let (attempt, over) = (state.job.attempt, state.job.state().is_terminal());
    for worker in &mut state.workers {
        worker.run = worker.run.take().filter(|run| !hidden_moves::is_inert(config, run, attempt, over));
        // For a run that lost the job, it makes no difference whether the run has read its inbox.
        if let Some(Run { phase: Phase::Ready { fresh, nonce: None }, attempt: of, .. }) = &mut worker.run
            && *of < attempt
        {
            *fresh = false;
        }
    }
    state.sorted()
}

/// Returns true if guarantees I80 to I82 hold in a state, as the search checks them.
fn invariants_hold(config: &Config, state: &State) -> bool {
    let once = config.calls.iter().zip(&state.world).all(|(class, keys)| *class == ModelClass::Read || keys.len() <= 1);
    state.violations == 0 && once
}

/// Returns the states in which the observed change can happen. If the lease holder did not make the change, it may have
/// reloaded the job or read its inbox before the change.
fn states_before(model: &Protocol, state: &State, seen: &Observation) -> Vec<State> {
    let by: &[u8] = match seen {
        Observation::Wrote { by, .. } => by,
        Observation::RequestMade { .. } | Observation::Claimed { .. } => &[],
        _ => return vec![state.clone()],
    };
    match by.contains(&state.job.attempt) {
        true => vec![state.clone()],
        false => hidden_moves::states_after_load(model, state),
    }
}

/// Returns the successor states that match the observation.
fn successors(model: &Protocol, state: &State, seen: &Observation, expected: &mut HashSet<String>) -> Vec<State> {
    match seen {
        Observation::Claimed { job } => {
            let over = model.next_state(state, Action::LeaseExpired);
            let idle = |state: &State| state.workers.iter().position(|worker| worker.run.is_none());
            let claim = |state: State| idle(&state).and_then(|index| model.next_state(&state, Action::Claim(index)));
            [Some(state.clone()), over]
                .into_iter()
                .flatten()
                .filter_map(claim)
                .filter(|next| matches_database(next, job, expected))
                .collect()
        }
        Observation::Wrote { by, job } => {
            by.iter().flat_map(|by| hidden_moves::states_after_write(model, state, *by, job, expected)).collect()
        }
        Observation::RequestMade { job } => {
            let slots = (0u8..).take(model.0.calls.len());
            let all =
                slots.flat_map(|slot| hidden_moves::state_after_settling(model, state, slot, Action::Resolve(slot)));
            let all = all.chain(model.next_state(state, Action::Cancel));
            all.filter(|next| matches_database(next, job, expected)).collect()
        }
        Observation::Refused { by, why } => {
            let agrees = match why {
                ObservedRefusal::Fenced => state.job.attempt != *by,
                ObservedRefusal::NotHeld => state.job.state() != JobState::Running,
                ObservedRefusal::Cancelled => state.job.cancel_flag,
                ObservedRefusal::InboxPending => !state.job.inbox.is_empty(),
            };
            Some(state.clone()).filter(|_| agrees).into_iter().collect()
        }
        Observation::Sent { by, slot, try_no, key } => {
            hidden_moves::states_after_send(model, state, (*by, *slot, *try_no, *key))
        }
        Observation::Arrived { by, slot, try_no, value } => {
            hidden_moves::states_after_arrival(model, state, (*by, *slot, *try_no, *value))
        }
        Observation::ReconcileAsked { by, slot, happened } => {
            hidden_moves::states_after_reconcile(model, state, (*by, *slot, *happened))
        }
        Observation::Died { attempts } => {
            let mut state = state.clone();
            for attempt in attempts {
                if let Some(index) = hidden_moves::worker_of(&state, *attempt) {
                    state = model.next_state(&state, Action::Crash(index)).unwrap_or(state);
                }
            }
            vec![state]
        }
    }
}
