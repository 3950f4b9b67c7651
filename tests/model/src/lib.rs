//! A model of the protocol of `docs/semantics.md` §3 to §5, small enough to be searched whole.
//!
//! What decides is the code that ships: [`latchwork_core::ledger::decide`] says what becomes of an
//! invocation, [`latchwork_core::quiescence::judge`] when its owner is at rest, and
//! [`latchwork_core::admit`] which writes the database takes. What is modelled is everything
//! around them: workers that crash, pause and come back, leases, clocks, answers of commits that
//! get lost, requests on the wire, the world, and the person who looks at it.
//!
//! [`Config`] says which world is searched; [`Mutant`] takes one rule of the protocol away, and the
//! search then has to find the harm. `docs/model.md` has the numbers.

pub mod accept;
mod environment;
mod kernel;
mod model;
mod moves;
mod pace;
mod plan;
mod record;
mod state;
mod walk;
mod worker;

pub use model::{Action, ENDS, PROPERTIES, Protocol};
pub use plan::{Plan, Todo};
pub use record::{Answer, Claimed, Effect, Record, RowM, TRIES, Verdict};
pub use state::{Clock, Job, Note, Phase, State, Violation, Wire, Worker};
pub use walk::{Circle, walk};
pub use worker::Luck;

/// What the tool of an invocation declares of itself (§5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Changes nothing.
    Read,
    /// May be repeated under its external key.
    Keyed,
    /// Can be asked what happened.
    Queryable,
    /// Neither: a person decides.
    Opaque,
}

/// One rule of the protocol less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// The barrier is written without asking whether the attempt still holds the job, the lease is
    /// good and the row is as it was read.
    UnfencedAcquire,
    /// The external key names the attempt that executes, not the one that first started.
    AttemptScopedKey,
    /// Nobody waits until the owner of an open try is at rest.
    NoQuiescence,
    /// The tool is called first, and what was started is recorded with its answer.
    NoBarrier,
    /// A worker that lost its lease cannot record an answer any more.
    LeaseFencedEffects,
    /// A person's verdict names the invocation, but not which of its tries.
    VerdictWithoutTry,
    /// A person's verdict is taken before the world has settled.
    VerdictBeforeSettling,
    /// Staged commit: what says that a try changed nothing is durable before its row says so.
    FailureInTwoWrites,
    /// Staged commit: a repeat takes the doubtful try's place in the effect store before its barrier
    /// is admitted.
    ClaimBeforeBarrier,
    /// That a repeat under the key changed nothing is put into the effect store by a worker that had
    /// lost the job, as if it were an answer about the try that it repeats.
    FailedRepeatSettles,
    /// A worker that paused between looking at its clock and the system call sends all the same. No
    /// rule of the protocol, but what it has to assume.
    LateSend,
}

/// The world to search.
#[derive(Clone, Debug)]
pub struct Config {
    /// How many workers.
    pub workers: usize,
    /// The invocations of the job, one after the other.
    pub calls: Vec<Class>,
    /// Whether effect, events and row are three durable writes.
    pub staged: bool,
    /// Tries of one invocation, at most [`TRIES`].
    pub tries: u8,
    /// How many workers may crash.
    pub crashes: u8,
    /// How often a lease may end while its holder lives.
    pub pauses: u8,
    /// How often the answer of a commit may be lost.
    pub lost_commits: u8,
    /// Whether somebody may ask to cancel.
    pub cancel: bool,
    /// Whether a key's window may be over, and a tool may not know what happened.
    pub shrugs: bool,
    /// Whether workers load again, look into the inbox and rest at a pace of their own.
    pub free: bool,
    /// How many requests may wait while people ask again; 0 where they ask once.
    pub asks: u8,
    /// How often a job may be given back, or wait for a time.
    pub rests: u8,
    /// What is taken away.
    pub mutant: Option<Mutant>,
}

impl Config {
    /// Two workers, one invocation, one of each fault.
    pub fn of(class: Class) -> Self {
        Self {
            workers: 2,
            calls: vec![class],
            staged: false,
            tries: 2,
            crashes: 1,
            pauses: 1,
            lost_commits: 1,
            cancel: false,
            shrugs: false,
            free: false,
            asks: 0,
            rests: 0,
            mutant: None,
        }
    }

    /// The same, in a staged commit.
    pub fn staged(self) -> Self {
        Self { staged: true, ..self }
    }

    /// The same with one rule less.
    pub fn without(self, mutant: Mutant) -> Self {
        Self { mutant: Some(mutant), ..self }
    }

    pub(crate) fn lacks(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }
}
