//! Writes that a worker decided on, and the parts in which they become durable.

use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;

use crate::inbox::ModelRequest;
use crate::record::{Answer, Effect, EffectOrigin, ModelRow, Record, Verdict};
use crate::{Config, Mutant};

/// Bit that stands for the effect store in [`PlannedWrite::remaining_parts`] and [`PlannedWrite::joint_parts`].
pub(crate) const EFFECTS: u8 = 1;
/// Bit that stands for the event log.
pub(crate) const EVENTS: u8 = 2;
/// Bit that stands for the ledger.
pub(crate) const ROW: u8 = 4;

/// A decision that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Plan {
    /// Barrier of a try.
    Acquire {
        /// Number of the try.
        try_no: u8,
        /// True if this try repeats the previous try under its key. The barrier then also ends the previous try.
        repeat: bool,
    },
    /// Final answer.
    Commit {
        /// Number of the try.
        try_no: u8,
        /// The answer.
        answer: Answer,
    },
    /// A try that changed nothing. Another try may follow.
    Fail {
        /// Number of the try.
        try_no: u8,
    },
    /// The outcome of the try is unknown.
    MarkInDoubt {
        /// True if the call must not be queried or repeated before the settling time.
        must_settle: bool,
    },
    /// Verdict that the open try did not happen.
    NotApplied {
        /// Number of the try.
        try_no: u8,
    },
    /// Verdict that the open try happened.
    Applied {
        /// Number of the try.
        try_no: u8,
        /// Result of the try.
        value: u8,
    },
    /// The call fails with a final failure because it has no tries left.
    FailFinal,
    /// Writes the ledger row of a final answer that is already in the log, because a crash prevented the earlier write
    /// of the row.
    Repair,
    /// The step waits for a person's decision.
    Block,
    /// The job is parked until a person decides.
    Park,
    /// The job ends or is suspended.
    End {
        /// Index into [`JobState::ALL`].
        state: u8,
    },
    /// Applies only the inbox row. The blocked step then checks its state again.
    Unblock,
    /// Applies only the inbox row.
    Nothing,
}

/// A plan that is being written to the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlannedWrite {
    /// Slot of the invocation.
    pub slot: u8,
    /// The decision.
    pub plan: Plan,
    /// Inbox request that the write removes.
    pub applies: Option<ModelRequest>,
    /// Answer that the worker holds and that this write records: slot, try and answer.
    pub held_answer: Option<(u8, u8, Answer)>,
    /// Bits of the parts that are not durable yet.
    pub remaining_parts: u8,
    /// Bits of the parts that are written together.
    pub joint_parts: u8,
}

impl PlannedWrite {
    pub(crate) fn new(slot: u8, plan: Plan, config: &Config) -> Self {
        let all = EFFECTS | EVENTS | ROW;
        let joint = match (config.staged, plan) {
            (false, _) => all,
            (true, Plan::Acquire { .. }) => EVENTS | ROW,
            (true, Plan::End { .. }) => EVENTS | ROW,
            (true, Plan::Fail { .. } | Plan::NotApplied { .. }) if !config.lacks(Mutant::FailureInTwoWrites) => {
                EVENTS | ROW
            }
            (true, _) => 0,
        };
        // With staged commit, a repeat ends a try in doubt but stores no effect for this try. The effect would be
        // durable before the barrier of the repeat. If the store refused the barrier, the effect could not be removed.
        let acquires = matches!(plan, Plan::Acquire { .. });
        let claims = !(config.staged && acquires) || config.lacks(Mutant::ClaimBeforeBarrier);
        let left = if claims { all } else { EVENTS | ROW };
        Self { slot, plan, applies: None, held_answer: None, remaining_parts: left, joint_parts: joint }
    }

    /// Returns the parts of the next write.
    pub(crate) fn next_parts(&self, record: &Record) -> u8 {
        let mut left = self.remaining_parts;
        if self.joint_parts & EFFECTS == 0 && self.effect(record).is_none() {
            left &= !EFFECTS;
        }
        if self.joint_parts & ROW == 0 && self.row(record, 0).is_none() {
            left &= !ROW;
        }
        if self.joint_parts & EVENTS == 0 && !self.has_events() {
            left &= !EVENTS;
        }
        let lowest = left & left.wrapping_neg();
        if lowest & self.joint_parts != 0 { left & self.joint_parts } else { lowest }
    }

    /// Returns the effect that the plan writes, with the number of its try. Returns `None` if the plan writes no
    /// effect, or if the try already has an effect.
    pub(crate) fn effect(&self, record: &Record) -> Option<(u8, Effect)> {
        let (try_no, answer, by) = match self.plan {
            Plan::Acquire { try_no, repeat: true } => (try_no - 1, Answer::Unknown, EffectOrigin::Verdict),
            Plan::Commit { try_no, answer } => (try_no, answer, EffectOrigin::Executed),
            Plan::Fail { try_no } => (try_no, Answer::NotApplied, EffectOrigin::Executed),
            Plan::NotApplied { try_no } => (try_no, Answer::NotApplied, EffectOrigin::Verdict),
            Plan::Applied { try_no, value } => (try_no, Answer::Ok(value), EffectOrigin::Verdict),
            _ => return None,
        };
        record.effect(try_no).is_none().then_some((try_no, Effect { answer, by }))
    }

    /// Returns the ledger row after the write by `attempt`, or `None` if the plan writes no row.
    pub(crate) fn row(&self, record: &Record, attempt: u8) -> Option<ModelRow> {
        let first_attempt = if record.first_attempt == 0 { attempt } else { record.first_attempt };
        let unstarted = ModelRow {
            state: RowState::Inflight as u8,
            attempt,
            nonce: nonce(attempt, record.tries),
            try_no: record.tries,
            first_attempt,
            must_settle: false,
        };
        let old = record.row.unwrap_or(unstarted);
        let to = |state: RowState| ModelRow { state: state as u8, must_settle: false, ..old };
        Some(match self.plan {
            Plan::Acquire { try_no, .. } => ModelRow { nonce: nonce(attempt, try_no), try_no, ..unstarted },
            Plan::Commit { try_no, answer } => ModelRow { try_no, ..to(final_row_state(answer)) },
            Plan::Fail { try_no } => ModelRow { try_no, ..to(RowState::FailedDefinite) },
            Plan::MarkInDoubt { must_settle: settles } => {
                ModelRow { must_settle: settles, ..to(RowState::Indeterminate) }
            }
            Plan::NotApplied { .. } => to(RowState::FailedDefinite),
            Plan::Applied { .. } => to(RowState::Committed),
            Plan::FailFinal => to(RowState::FailedFinal),
            Plan::Repair => to(final_row_state(record.finished?.1)),
            // If the job ends and a failed call is not retried, the failure becomes final.
            Plan::End { .. } if self.makes_failure_final(record) => to(RowState::FailedFinal),
            Plan::Block | Plan::Park | Plan::End { .. } | Plan::Unblock | Plan::Nothing => return None,
        })
    }

    /// Appends the events of the plan.
    pub(crate) fn append(&self, record: &mut Record, attempt: u8) {
        match self.plan {
            Plan::Acquire { try_no, repeat } => {
                if repeat {
                    record.verdicts[usize::from(try_no) - 2] = Some(Verdict::Repeat);
                }
                start(record, attempt, try_no);
                record.open = true;
            }
            Plan::Commit { try_no, answer } => {
                start(record, attempt, try_no);
                finish(record, try_no, answer, true);
            }
            Plan::Fail { try_no } => {
                start(record, attempt, try_no);
                finish(record, try_no, Answer::NotApplied, false);
            }
            Plan::NotApplied { try_no } => {
                record.verdicts[usize::from(try_no) - 1] = Some(Verdict::NotApplied);
                record.open = false;
            }
            Plan::Applied { try_no, value } => {
                record.verdicts[usize::from(try_no) - 1] = Some(Verdict::Applied);
                finish(record, try_no, Answer::Ok(value), true);
            }
            Plan::FailFinal => finish(record, record.tries, Answer::NotApplied, true),
            Plan::Block => record.blocked = true,
            Plan::End { .. } => record.committed |= self.makes_failure_final(record),
            Plan::Park | Plan::MarkInDoubt { .. } | Plan::Repair | Plan::Unblock | Plan::Nothing => {}
        }
        // A blocked step is unblocked by a late answer or a decision about the try that it waits for.
        record.blocked &= match self.applies {
            Some(ModelRequest::Late { try_no, .. }) => record.open_try() != Some(try_no),
            Some(ModelRequest::Resolve { .. }) => self.plan == Plan::Nothing,
            Some(ModelRequest::Cancel) | None => true,
        };
    }

    /// Returns true if the end of the job turns the call's last failure into its final answer.
    fn makes_failure_final(&self, record: &Record) -> bool {
        let definite = record.row.is_some_and(|row| row.state == RowState::FailedDefinite as u8);
        let is_over = self.status().is_some_and(JobState::is_terminal);
        definite && is_over && record.finished.is_some() && !record.open && !record.committed
    }

    fn has_events(&self) -> bool {
        self.applies.is_some() || !matches!(self.plan, Plan::MarkInDoubt { .. } | Plan::Repair)
    }

    /// Returns the new state of the job, or `None` if the plan does not change the state.
    pub(crate) fn status(&self) -> Option<JobState> {
        match self.plan {
            Plan::Park => Some(JobState::Parked),
            Plan::End { state } => Some(JobState::ALL[usize::from(state)]),
            _ => None,
        }
    }

    pub(crate) fn acquires(&self) -> bool {
        matches!(self.plan, Plan::Acquire { .. })
    }

    pub(crate) fn commits(&self) -> bool {
        matches!(self.plan, Plan::Commit { .. } | Plan::Applied { .. } | Plan::FailFinal)
    }
}

/// Returns a nonce that is unique for each try of each attempt.
pub(crate) fn nonce(attempt: u8, try_no: u8) -> u16 {
    u16::from(attempt) * 8 + u16::from(try_no)
}

fn final_row_state(answer: Answer) -> RowState {
    if matches!(answer, Answer::Ok(_)) { RowState::Committed } else { RowState::FailedFinal }
}

fn start(record: &mut Record, attempt: u8, try_no: u8) {
    if record.tries < try_no {
        record.tries = try_no;
        record.opener = (attempt, nonce(attempt, try_no));
        if record.first_attempt == 0 {
            record.first_attempt = attempt;
        }
    }
}

fn finish(record: &mut Record, try_no: u8, answer: Answer, is_final: bool) {
    record.finished = Some((try_no, answer));
    record.open = false;
    record.committed |= is_final;
}
