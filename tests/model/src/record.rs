//! What the stores hold of one invocation: ledger row, events and effects.

/// Tries that an invocation has room for.
pub const TRIES: usize = 6;

/// What a try came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// A result; the number tells one from another.
    Ok(u8),
    /// It certainly changed nothing.
    NotApplied,
    /// Nobody knows.
    Unknown,
}

/// Who took the place of a try's answer in the effect store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claimed {
    /// The tool.
    Executed,
    /// A verdict.
    Verdict,
}

/// An answer in the effect store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Effect {
    /// The answer.
    pub answer: Answer,
    /// Whose it is.
    pub by: Claimed,
}

/// The event that ended a try in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It happened.
    Applied,
    /// It did not.
    NotApplied,
    /// It is repeated under its key.
    Repeat,
}

/// A ledger row, without what never changes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowM {
    /// The number of the [`latchwork_core::ledger::RowState`].
    pub state: u8,
    /// The attempt that started the open try.
    pub attempt: u8,
    /// Its nonce.
    pub nonce: u16,
    /// The open (or last) try.
    pub try_no: u8,
    /// Makes the external key.
    pub first_attempt: u8,
    /// `INDETERMINATE`: whether nobody may ask or repeat before the world has settled.
    pub settles: bool,
}

/// Everything stored of one invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Record {
    /// Its row.
    pub row: Option<RowM>,
    /// `tool_invocation_started` events.
    pub tries: u8,
    /// The attempt and nonce of the last of them.
    pub opener: (u8, u16),
    /// Makes the external key, as the first of them has it.
    pub first_attempt: u8,
    /// Whether the last try has neither an answer nor a verdict.
    pub open: bool,
    /// The answer of the last `tool_invocation_finished`, and its try.
    pub finished: Option<(u8, Answer)>,
    /// Whether there is a `command_committed`.
    pub committed: bool,
    /// Verdicts on tries.
    pub verdicts: [Option<Verdict>; TRIES],
    /// Effects of tries.
    pub effects: [Option<Effect>; TRIES],
    /// Whether the step waits for a person's word on it.
    pub blocked: bool,
}

impl Record {
    /// The number of events of the invocation: it tells a stale view of the log from the log.
    pub fn events(&self) -> u64 {
        let verdicts = self.verdicts.iter().flatten().count() as u64;
        u64::from(self.tries) + verdicts + u64::from(self.finished.map_or(0, |(n, _)| n)) + u64::from(self.committed)
    }
    /// The open try.
    pub fn open_try(&self) -> Option<u8> {
        self.open.then_some(self.tries)
    }
    /// The effect of a try, from 1.
    pub fn effect(&self, try_no: u8) -> Option<Effect> {
        self.effects[usize::from(try_no) - 1]
    }
    /// The recorded final answer.
    pub fn answer(&self) -> Option<Answer> {
        self.finished.filter(|_| self.committed).map(|(_, answer)| answer)
    }
    /// Whether some try was repeated under its key: then nothing says any more that it did not happen.
    pub fn repeats(&self) -> bool {
        self.verdicts.iter().flatten().next_back() == Some(&Verdict::Repeat)
    }
}
