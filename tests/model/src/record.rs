//! Stored data of one invocation: ledger row, events and effects.

/// Maximum number of tries of an invocation.
pub const TRIES: usize = 6;

/// Answer of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// A result. The number distinguishes results.
    Ok(u8),
    /// The try certainly changed nothing.
    NotApplied,
    /// The outcome is unknown.
    Unknown,
}

/// Origin of a try's entry in the effect store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectOrigin {
    /// The tool's own answer.
    Executed,
    /// A verdict on the try.
    Verdict,
}

/// An answer in the effect store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Effect {
    /// The answer.
    pub answer: Answer,
    /// Origin of the answer.
    pub by: EffectOrigin,
}

/// Event that ended a try in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The try happened.
    Applied,
    /// The try did not happen.
    NotApplied,
    /// The try is repeated under its key.
    Repeat,
}

/// A ledger row without the fields that are constant in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelRow {
    /// Number of the [`latchwork_core::rules::ledger::RowState`].
    pub state: u8,
    /// Attempt that started the open try.
    pub attempt: u8,
    /// Nonce of the open try.
    pub nonce: u16,
    /// Number of the open try, or of the last try.
    pub try_no: u8,
    /// Attempt in the external key.
    pub first_attempt: u8,
    /// True if an `INDETERMINATE` call must not be queried or repeated before the settling time.
    pub must_settle: bool,
}

/// All stored data of one invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Record {
    /// Ledger row.
    pub row: Option<ModelRow>,
    /// Number of `tool_invocation_started` events.
    pub tries: u8,
    /// Attempt and nonce of the last `tool_invocation_started` event.
    pub opener: (u8, u16),
    /// Attempt in the external key, taken from the first `tool_invocation_started` event.
    pub first_attempt: u8,
    /// True if the last try has neither an answer nor a verdict.
    pub open: bool,
    /// Try and answer of the last `tool_invocation_finished` event.
    pub finished: Option<(u8, Answer)>,
    /// True if there is a `command_committed` event.
    pub committed: bool,
    /// Verdicts on tries, indexed by try - 1.
    pub verdicts: [Option<Verdict>; TRIES],
    /// Effects of tries, indexed by try - 1.
    pub effects: [Option<Effect>; TRIES],
    /// True if the step waits for a person's decision about the invocation.
    pub blocked: bool,
}

impl Record {
    /// Returns the number of events of the invocation. If a worker's view has another number of events than the
    /// log, the view is stale.
    pub fn events(&self) -> u64 {
        let verdicts = self.verdicts.iter().flatten().count() as u64;
        u64::from(self.tries) + verdicts + u64::from(self.finished.map_or(0, |(n, _)| n)) + u64::from(self.committed)
    }
    /// Returns the open try.
    pub fn open_try(&self) -> Option<u8> {
        self.open.then_some(self.tries)
    }
    /// Returns the effect of a try. Tries count from 1.
    pub fn effect(&self, try_no: u8) -> Option<Effect> {
        self.effects[usize::from(try_no) - 1]
    }
    /// Returns the recorded final answer.
    pub fn answer(&self) -> Option<Answer> {
        self.finished.filter(|_| self.committed).map(|(_, answer)| answer)
    }
    /// Returns true if the last verdict is [`Verdict::Repeat`], that is, if the last try repeats an earlier try under
    /// its key. If this function returns true, an answer "not applied" covers only the last try. The earlier try may
    /// have changed the world.
    pub fn was_repeated(&self) -> bool {
        self.verdicts.iter().flatten().next_back() == Some(&Verdict::Repeat)
    }
}
