//! Following a trace of workers through the model: after each thing that was seen, the states that the
//! model can be in. Where there is none, the trace is no behaviour of the protocol.
//!
//! What is seen is the database (what every claim, write and request left in it), the requests that leave
//! and arrive, questions to tools, and deaths. What goes on inside of workers, and how far time is, nobody
//! sees: any of it that explains what was seen will do.

use std::collections::HashSet;
use std::fmt;

use latchwork_core::job::JobState;
use stateright::Model;

use crate::record::Record;
use crate::state::{Job, Phase, Run, State};
use crate::{Action, Class, Config, Protocol, moves};

/// So many states at once are no following any more.
const FRONTIER_MAX: usize = 16_000;

/// One thing that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The job was claimed, and looks like this since.
    Claimed {
        /// What the claim left.
        job: Job,
    },
    /// A worker wrote: a batch, an answer, or a note to whoever holds the job.
    Wrote {
        /// The attempts that it may have been, those of one process.
        by: Vec<u8>,
        /// What it left.
        job: Job,
    },
    /// A person asked for something.
    Asked {
        /// What it left.
        job: Job,
    },
    /// The store refused a write.
    Refused {
        /// The attempt that wrote.
        by: u8,
        /// Why.
        why: Refusal,
    },
    /// A request left for the world.
    Sent {
        /// The attempt that sent it.
        by: u8,
        /// The invocation.
        slot: u8,
        /// Its try.
        try_no: u8,
        /// The attempt in the external key.
        key: u8,
    },
    /// A request arrived, and was answered with this.
    Arrived {
        /// The attempt that had sent it.
        by: u8,
        /// The invocation.
        slot: u8,
        /// Its try.
        try_no: u8,
        /// The result.
        value: u8,
    },
    /// A tool was asked what became of a call, and the world knew of it or not.
    Questioned {
        /// The attempt that asked.
        by: u8,
        /// The invocation.
        slot: u8,
        /// What had happened.
        happened: Option<u8>,
    },
    /// A process died.
    Died {
        /// Its attempts.
        attempts: Vec<u8>,
    },
}

/// Why a write was refused, where the model knows the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another attempt holds the job.
    Fenced,
    /// Nobody does.
    NotHeld,
    /// Somebody asked to cancel.
    Cancelled,
    /// Somebody asked for something that has to be taken in first.
    InboxPending,
}

/// What following a trace came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Followed {
    /// The most states at once.
    pub widest: usize,
    /// The states at the end.
    pub left: usize,
}

/// A trace is no behaviour of the model, or it cannot be followed to its end.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// True if the search ended because the model could be in too many states, and not because it could be in none.
    pub outgrown: bool,
    /// The number of what was seen, from 0.
    pub at: usize,
    /// What was seen.
    pub seen: Seen,
    /// What the model would have had next, as far as it is of the same kind.
    pub expected: Vec<String>,
    /// The states before.
    pub before: Vec<State>,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "number {}, seen: {:?}", self.at, self.seen)?;
        if self.outgrown {
            writeln!(f, "  more than {FRONTIER_MAX} states at once")?;
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

/// Follows a trace.
///
/// # Errors
/// The first thing that was seen and that no state of the model comes to.
pub fn follow(config: &Config, trace: &[Seen]) -> Result<Followed, Box<Rejected>> {
    let model = Protocol(unbounded(config, trace));
    let mut frontier = model.init_states();
    let mut followed = Followed::default();
    for (at, seen) in trace.iter().enumerate() {
        let mut expected = HashSet::new();
        let mut next: Vec<State> = Vec::new();
        let mut known = HashSet::new();
        for state in frontier.iter().flat_map(|state| ahead(&model, state, seen)) {
            for reached in step(&model, &state, seen, &mut expected) {
                let reached = canonical(&model.0, reached);
                if holds(&model.0, &reached) && known.insert(reached.clone()) {
                    next.push(reached);
                }
            }
        }
        if next.is_empty() || next.len() > FRONTIER_MAX {
            let outgrown = !next.is_empty();
            let mut expected: Vec<String> = expected.into_iter().collect();
            expected.sort();
            return Err(Box::new(Rejected { outgrown, at, seen: seen.clone(), expected, before: frontier }));
        }
        frontier = next;
        followed.widest = followed.widest.max(frontier.len());
    }
    followed.left = frontier.len();
    Ok(followed)
}

/// The world of a trace: faults are not counted, and workers do what they like.
fn unbounded(config: &Config, trace: &[Seen]) -> Config {
    let claims = trace.iter().filter(|seen| matches!(seen, Seen::Claimed { .. })).count();
    Config {
        workers: claims + 1,
        crashes: u8::MAX,
        pauses: u8::MAX,
        rests: u8::MAX,
        lost_commits: u8::MAX,
        cancel: true,
        shrugs: true,
        free: true,
        asks: u8::MAX,
        ..config.clone()
    }
}

/// Faults start to count anew, and runs that can do nothing any more are none.
fn canonical(config: &Config, mut state: State) -> State {
    (state.crashes, state.pauses, state.rests) = (config.crashes, config.pauses, config.rests);
    state.lost_commits = config.lost_commits;
    let (attempt, over) = (state.job.attempt, state.job.state().is_terminal());
    for worker in &mut state.workers {
        worker.run = worker.run.take().filter(|run| !moves::is_done(config, run, attempt, over));
        // Whoever lost the job may have looked into the inbox or not.
        if let Some(Run { phase: Phase::Ready { fresh, nonce: None }, attempt: of, .. }) = &mut worker.run
            && *of < attempt
        {
            *fresh = false;
        }
    }
    state.in_order()
}

/// I80 to I82, as the search has them.
fn holds(config: &Config, state: &State) -> bool {
    let once = config.calls.iter().zip(&state.world).all(|(class, keys)| *class == Class::Read || keys.len() <= 1);
    state.broken == 0 && once
}

/// What the holder may have read before something came that it has not read.
fn ahead(model: &Protocol, state: &State, seen: &Seen) -> Vec<State> {
    let by: &[u8] = match seen {
        Seen::Wrote { by, .. } => by,
        Seen::Asked { .. } | Seen::Claimed { .. } => &[],
        _ => return vec![state.clone()],
    };
    match by.contains(&state.job.attempt) {
        true => vec![state.clone()],
        false => moves::loads(model, state),
    }
}

/// The states in which the model has seen it.
fn step(model: &Protocol, state: &State, seen: &Seen, expected: &mut HashSet<String>) -> Vec<State> {
    match seen {
        Seen::Claimed { job } => {
            let over = model.next_state(state, Action::LeaseOver);
            let idle = |state: &State| state.workers.iter().position(|worker| worker.run.is_none());
            let claim = |state: State| idle(&state).and_then(|index| model.next_state(&state, Action::Claim(index)));
            [Some(state.clone()), over]
                .into_iter()
                .flatten()
                .filter_map(claim)
                .filter(|next| is(next, job, expected))
                .collect()
        }
        Seen::Wrote { by, job } => by.iter().flat_map(|by| moves::writes(model, state, *by, job, expected)).collect(),
        Seen::Asked { job } => {
            let slots = (0u8..).take(model.0.calls.len());
            let all = slots.flat_map(|slot| moves::settled(model, state, slot, Action::Resolve(slot)));
            let all = all.chain(model.next_state(state, Action::Cancel));
            all.filter(|next| is(next, job, expected)).collect()
        }
        Seen::Refused { by, why } => {
            let agrees = match why {
                Refusal::Fenced => state.job.attempt != *by,
                Refusal::NotHeld => state.job.state() != JobState::Running,
                Refusal::Cancelled => state.job.cancel_flag,
                Refusal::InboxPending => !state.job.inbox.is_empty(),
            };
            Some(state.clone()).filter(|_| agrees).into_iter().collect()
        }
        Seen::Sent { by, slot, try_no, key } => moves::sends(model, state, (*by, *slot, *try_no, *key)),
        Seen::Arrived { by, slot, try_no, value } => moves::lands(model, state, (*by, *slot, *try_no, *value)),
        Seen::Questioned { by, slot, happened } => moves::asks(model, state, (*by, *slot, *happened)),
        Seen::Died { attempts } => {
            let mut state = state.clone();
            for attempt in attempts {
                if let Some(index) = moves::of(&state, *attempt) {
                    state = model.next_state(&state, Action::Crash(index)).unwrap_or(state);
                }
            }
            vec![state]
        }
    }
}

/// Whether the database looks so; what it looks like is remembered.
pub(crate) fn is(state: &State, job: &Job, expected: &mut HashSet<String>) -> bool {
    let found = state.job.seen();
    if found != *job {
        expected.insert(format!("{found:?}"));
    }
    found == *job
}

impl Job {
    /// As much of it as is followed: no leases, no difference between ends but a cancelled job's, and of rows
    /// that nobody executes and nobody doubts no owner.
    pub fn seen(&self) -> Job {
        let mut job = self.clone();
        job.lease_live = false;
        if matches!(job.state(), JobState::Partial | JobState::Failed) {
            job.set_state(JobState::Completed);
        }
        job.records.iter_mut().for_each(Record::blur);
        job
    }
}

impl Record {
    fn blur(&mut self) {
        use latchwork_core::ledger::RowState;
        self.opener.1 = 0;
        if let Some(row) = &mut self.row {
            row.settles = false;
            let open = [RowState::Inflight as u8, RowState::Indeterminate as u8].contains(&row.state);
            if !open {
                (row.attempt, row.nonce, row.first_attempt) = (0, 0, 0);
            }
        }
    }
}
