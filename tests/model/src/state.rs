//! State of the model: database, workers, requests in transit and world.

use latchwork_core::model::job::JobState;

use crate::Config;
use crate::inbox::ModelRequest;
use crate::plan::PlannedWrite;
use crate::record::{Answer, Record, TRIES};

/// The database: the job's row, its inbox, and the records of its invocations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    /// Index into [`JobState::ALL`].
    pub state: u8,
    /// Attempt of the last claim.
    pub attempt: u8,
    /// True if the lease has not expired.
    pub lease_live: bool,
    /// Cancel flag of the job's row. It is checked when a barrier is written.
    pub cancel_flag: bool,
    /// True if the log contains the cancellation.
    pub cancelled: bool,
    /// Requests that are not applied yet, the oldest first.
    pub inbox: Vec<ModelRequest>,
    /// Records of the job's invocations.
    pub records: Vec<Record>,
}

impl Job {
    /// Returns the state of the job.
    pub fn state(&self) -> JobState {
        JobState::ALL[usize::from(self.state)]
    }
    pub(crate) fn set_state(&mut self, to: JobState) {
        let index = JobState::ALL.iter().position(|state| *state == to);
        self.state = u8::try_from(index.unwrap_or_default()).unwrap_or_default();
    }
}

/// Activity of the worker that runs an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The worker decides on its next step. With a fresh view it reads the inbox first.
    Ready {
        /// True if the worker has just loaded the job.
        fresh: bool,
        /// Nonce of a barrier whose commit was not acknowledged.
        nonce: Option<u16>,
    },
    /// The worker must reload the job.
    Reload {
        /// Nonce of a barrier whose commit was not acknowledged.
        nonce: Option<u16>,
        /// Answer that could not be recorded with its events: slot, try and answer.
        held_answer: Option<(u8, u8, Answer)>,
    },
    /// Some parts of a write are durable, and the other parts follow.
    Writing(PlannedWrite),
    /// The worker executes a try.
    Executing {
        /// Slot of the invocation.
        slot: u8,
        /// Number of the try.
        try_no: u8,
        /// Nonce of the try.
        nonce: u16,
        /// Attempt in the external key.
        first_attempt: u8,
        /// True if the request has been sent.
        sent: bool,
    },
    /// The answer of a try has arrived.
    Answered {
        /// Slot of the invocation.
        slot: u8,
        /// Number of the try.
        try_no: u8,
        /// The answer.
        answer: Answer,
    },
    /// The worker has lost the job and holds an answer.
    Late {
        /// Slot of the invocation.
        slot: u8,
        /// Number of the try.
        try_no: u8,
        /// The answer.
        answer: Answer,
        /// True if the answer is in the effect store.
        is_stored: bool,
    },
}

/// A worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Worker {
    /// Run of the worker. The run may have lost the job. A crashed worker has no run.
    pub run: Option<Run>,
}

/// A worker's run of the job: its attempt, and the data that it has loaded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Run {
    /// Attempt of the run.
    pub attempt: u8,
    /// Attempt that held the job at the last load.
    pub current: u8,
    /// Records at the last load, with the run's own writes applied.
    pub view: Vec<Record>,
    /// True if the worker has loaded or applied the cancellation of the job.
    pub cancelled: bool,
    /// Current activity.
    pub phase: Phase,
    /// Answers that the step has received in this run, by slot.
    pub injected: Vec<Option<Answer>>,
}

/// Progress of the clock of a try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TryClock {
    /// The try was never started.
    #[default]
    Unused,
    /// The owner of the try may send.
    Live,
    /// The deadline and the margin have passed, so the owner has stopped the try.
    Over,
    /// The settling time has passed. Every request in transit has arrived or will never arrive.
    Settled,
}

/// A request in transit to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestInTransit {
    /// Slot of the invocation.
    pub slot: u8,
    /// Number of the try.
    pub try_no: u8,
    /// Nonce of the try.
    pub nonce: u16,
    /// Attempt in the external key.
    pub key: u8,
}

/// Violations of the protocol. Each violation is recorded at the transition that causes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Violation {
    /// A request was sent without a durable start record of the same attempt and nonce.
    NoRecord = 1,
    /// A superseded attempt changed the database.
    StaleWrite = 2,
    /// The step received different answers in two attempts, or an answer that differs from the recorded answer.
    DifferentAnswer = 4,
    /// A worker held an answer and could not store it.
    AnswerLost = 8,
    /// A call was started in a cancelled job.
    StartedAfterCancel = 16,
    /// A final answer was recorded over another final answer.
    SecondCommit = 32,
    /// A person's decision was not applied.
    DecisionNotApplied = 64,
}

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The database.
    pub job: Job,
    /// Workers. Their order has no meaning.
    pub workers: Vec<Worker>,
    /// Clocks of the tries of each invocation.
    pub clocks: Vec<[TryClock; TRIES]>,
    /// Requests in transit.
    pub requests_in_transit: Vec<RequestInTransit>,
    /// For each invocation, the external keys under which the world changed, in order.
    pub world: Vec<Vec<u8>>,
    /// Answer of each invocation that a step has received, in any attempt.
    pub delivered: Vec<Option<Answer>>,
    /// Number of crashes that may still happen.
    pub crashes: u8,
    /// Number of pauses that may still happen.
    pub pauses: u8,
    /// Number of commit answers that may still be lost.
    pub lost_commits: u8,
    /// Number of suspensions that may still happen.
    pub suspensions: u8,
    /// Bits of [`Violation`].
    pub violations: u8,
}

impl State {
    /// Returns the initial state: a job that has not been claimed yet.
    pub(crate) fn initial(config: &Config) -> Self {
        let calls = config.calls.len();
        let mut job = Job {
            state: 0,
            attempt: 0,
            lease_live: false,
            cancel_flag: false,
            cancelled: false,
            inbox: Vec::new(),
            records: vec![Record::default(); calls],
        };
        job.set_state(JobState::Pending);
        Self {
            job,
            workers: vec![Worker::default(); config.workers],
            clocks: vec![[TryClock::Unused; TRIES]; calls],
            requests_in_transit: Vec::new(),
            world: vec![Vec::new(); calls],
            delivered: vec![None; calls],
            crashes: config.crashes,
            pauses: config.pauses,
            lost_commits: config.lost_commits,
            suspensions: config.suspensions,
            violations: 0,
        }
    }

    /// Returns the progress of the clock of a try.
    pub fn clock(&self, slot: u8, try_no: u8) -> TryClock {
        let at = usize::from(try_no).checked_sub(1);
        at.map_or(TryClock::Unused, |at| self.clocks[usize::from(slot)][at])
    }
    pub(crate) fn set_clock(&mut self, slot: u8, try_no: u8, clock: TryClock) {
        self.clocks[usize::from(slot)][usize::from(try_no) - 1] = clock;
    }
    pub(crate) fn record_violation(&mut self, violation: Violation) {
        self.violations |= violation as u8;
    }
    /// Returns true if the violation happened on the way to this state.
    pub fn has_violation(&self, violation: Violation) -> bool {
        self.violations & violation as u8 != 0
    }
    /// Returns true if a worker still runs the attempt that holds the job.
    pub(crate) fn is_holder_alive(&self) -> bool {
        self.workers.iter().any(|worker| worker.run.as_ref().is_some_and(|run| run.attempt == self.job.attempt))
    }
    /// Sorts workers and requests, so that states that differ only in this order are equal.
    pub(crate) fn sorted(mut self) -> Self {
        self.workers.sort();
        self.requests_in_transit.sort();
        self
    }
}
