//! Everything that a search tells apart: database, workers, wires, world.

use latchwork_core::job::JobState;

use crate::Config;
use crate::plan::Todo;
use crate::record::{Answer, Record, TRIES};

/// A request in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Note {
    /// Give the job up.
    Cancel,
    /// The answer of a worker that had lost the job.
    Late {
        /// The invocation.
        slot: u8,
        /// Its try.
        try_no: u8,
    },
    /// A person's word on an invocation in doubt.
    Resolve {
        /// The invocation.
        slot: u8,
        /// The try it is about.
        try_no: u8,
        /// What the person saw: the result, or that nothing happened.
        seen: Option<u8>,
    },
}

/// The job's row, its inbox, and the records of its invocations: the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    /// Index into [`JobState::ALL`].
    pub state: u8,
    /// The attempt that holds it.
    pub attempt: u8,
    /// Whether the holder's lease is good.
    pub lease_live: bool,
    /// The flag that `acquire` reads.
    pub cancel_flag: bool,
    /// Whether the log says that it is given up.
    pub cancelled: bool,
    /// Undone requests, the oldest first.
    pub inbox: Vec<Note>,
    /// Its invocations.
    pub records: Vec<Record>,
}

impl Job {
    /// Where it stands.
    pub fn state(&self) -> JobState {
        JobState::ALL[usize::from(self.state)]
    }
    pub(crate) fn set_state(&mut self, to: JobState) {
        let index = JobState::ALL.iter().position(|state| *state == to);
        self.state = u8::try_from(index.unwrap_or_default()).unwrap_or_default();
    }
}

/// What the worker of an attempt is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// It asks what to do next. A fresh view looks at the inbox first.
    Ready {
        /// Whether it has just loaded the job.
        fresh: bool,
        /// The nonce of a barrier whose commit got no answer.
        nonce: Option<u16>,
    },
    /// It has to load the job again.
    Reload {
        /// The nonce of a barrier whose commit got no answer.
        nonce: Option<u16>,
        /// An answer that could not be recorded with its events.
        keep: Option<(u8, u8, Answer)>,
    },
    /// Parts of a write are durable, others follow.
    Writing(Todo),
    /// It executes a try.
    Executing {
        /// The invocation.
        slot: u8,
        /// The try.
        try_no: u8,
        /// Its nonce.
        nonce: u16,
        /// Makes the external key.
        first_attempt: u8,
        /// Whether the request has left.
        sent: bool,
    },
    /// The answer has come.
    Answered {
        /// The invocation.
        slot: u8,
        /// The try.
        try_no: u8,
        /// The answer.
        answer: Answer,
    },
    /// It has lost the job, and an answer in hand.
    Late {
        /// The invocation.
        slot: u8,
        /// The try.
        try_no: u8,
        /// The answer.
        answer: Answer,
        /// Whether the answer is in the effect store.
        put: bool,
    },
}

/// A worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Worker {
    /// What it holds, or thinks to hold; a worker that crashed holds nothing.
    pub run: Option<Run>,
}

/// A worker's run of the job: its attempt and what it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Run {
    /// The attempt.
    pub attempt: u8,
    /// The holder when it last looked.
    pub current: u8,
    /// The records, as far as it knows.
    pub view: Vec<Record>,
    /// Whether it knows that the job is given up.
    pub cancelled: bool,
    /// What it is about.
    pub phase: Phase,
    /// The answers it has injected.
    pub injected: Vec<Option<Answer>>,
}

/// How far the time of a try is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Clock {
    /// It was never started.
    #[default]
    Unused,
    /// Its owner may send.
    Live,
    /// Its deadline and the margin have passed: its owner has stopped it.
    Over,
    /// What was on its way has arrived or never will.
    Settled,
}

/// A request on its way to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wire {
    /// The invocation.
    pub slot: u8,
    /// The try.
    pub try_no: u8,
    /// The try's nonce.
    pub nonce: u16,
    /// The attempt in the external key.
    pub key: u8,
}

/// What must never be seen; each is set where it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Violation {
    /// A request left without a durable record of its start, by the same attempt and nonce.
    NoRecord = 1,
    /// A superseded attempt changed something.
    StaleWrite = 2,
    /// Two attempts injected different answers, or one that is not the recorded one.
    OtherAnswer = 4,
    /// A worker had an answer and could leave it nowhere.
    AnswerLost = 8,
    /// Something was started in a cancelled job.
    StartedAfterCancel = 16,
    /// A final answer was recorded over another.
    SecondCommit = 32,
    /// A person was not heard.
    Unheard = 64,
}

/// One state of everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The database.
    pub job: Job,
    /// The workers, in no order that means anything.
    pub workers: Vec<Worker>,
    /// Time of each try of each invocation.
    pub clocks: Vec<[Clock; TRIES]>,
    /// Requests on their way.
    pub wires: Vec<Wire>,
    /// External keys under which the world changed, in this order, of each invocation.
    pub world: Vec<Vec<u8>>,
    /// What each invocation's first injected answer was.
    pub delivered: Vec<Option<Answer>>,
    /// Crashes that may still come.
    pub crashes: u8,
    /// Pauses that may still come.
    pub pauses: u8,
    /// Commit answers that may still be lost.
    pub lost_commits: u8,
    /// Rests that may still come before a job is over.
    pub rests: u8,
    /// Bits of [`Violation`].
    pub broken: u8,
}

impl State {
    /// A job that nobody has claimed yet.
    pub(crate) fn first(config: &Config) -> Self {
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
            clocks: vec![[Clock::Unused; TRIES]; calls],
            wires: Vec::new(),
            world: vec![Vec::new(); calls],
            delivered: vec![None; calls],
            crashes: config.crashes,
            pauses: config.pauses,
            lost_commits: config.lost_commits,
            rests: config.rests,
            broken: 0,
        }
    }

    /// How far the time of a try is.
    pub fn clock(&self, slot: u8, try_no: u8) -> Clock {
        let at = usize::from(try_no).checked_sub(1);
        at.map_or(Clock::Unused, |at| self.clocks[usize::from(slot)][at])
    }
    pub(crate) fn set_clock(&mut self, slot: u8, try_no: u8, clock: Clock) {
        self.clocks[usize::from(slot)][usize::from(try_no) - 1] = clock;
    }
    pub(crate) fn breaks(&mut self, violation: Violation) {
        self.broken |= violation as u8;
    }
    /// Whether it was seen.
    pub fn has(&self, violation: Violation) -> bool {
        self.broken & violation as u8 != 0
    }
    /// The attempt of a run that still holds the job.
    pub(crate) fn holder_lives(&self) -> bool {
        self.workers.iter().any(|worker| worker.run.as_ref().is_some_and(|run| run.attempt == self.job.attempt))
    }
    /// Workers without a difference are not told apart.
    pub(crate) fn in_order(mut self) -> Self {
        self.workers.sort();
        self.wires.sort();
        self
    }
}
