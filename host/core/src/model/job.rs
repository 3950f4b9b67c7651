//! State machine of jobs (§7). A single table lists the legal transitions, and all others are refused.

use serde::{Deserialize, Serialize};

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobState {
    /// No worker holds the job. It may be claimed.
    Pending,
    /// A worker holds the job.
    Running,
    /// The job waits until a known time.
    Waiting,
    /// The job waits until its inbox receives a request.
    Parked,
    /// The code of a step no longer does what the log records.
    Diverged,
    /// Every step succeeded.
    Completed,
    /// Some steps succeeded, but not all.
    Partial,
    /// No step succeeded.
    Failed,
    /// The job was cancelled.
    Cancelled,
}

/// Input of the job state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobInput {
    /// A worker claimed the job.
    Claimed,
    /// The worker's lease was lost, or the worker released the job.
    Released,
    /// The job starts to wait until a known time.
    Wait,
    /// The job starts to wait until its inbox receives a request.
    Park,
    /// The code of a step diverged from the log.
    Diverge,
    /// The wait time has passed, or the inbox received a request.
    Wake,
    /// Every step succeeded, or a dry run skipped it.
    Complete,
    /// Some steps succeeded, but not all.
    EndPartial,
    /// No step succeeded.
    Fail,
    /// The job is cancelled.
    Cancel,
    /// An actor requested a retry of the failed steps.
    Reopen,
    /// An actor requested to undo the job.
    Undo,
}

/// Error: the table has no transition for this state and input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal transition of a job: {from:?} on {input:?}")]
pub struct IllegalJobTransition {
    /// State before the input.
    pub from: JobState,
    /// The refused input.
    pub input: JobInput,
}

impl JobState {
    /// All states.
    pub const ALL: [JobState; 9] = [
        JobState::Pending,
        JobState::Running,
        JobState::Waiting,
        JobState::Parked,
        JobState::Diverged,
        JobState::Completed,
        JobState::Partial,
        JobState::Failed,
        JobState::Cancelled,
    ];

    /// Returns true if the state is terminal.
    pub fn is_terminal(self) -> bool {
        matches!(self, JobState::Completed | JobState::Partial | JobState::Failed | JobState::Cancelled)
    }

    /// Returns the name that is stored and displayed.
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Pending => "PENDING",
            JobState::Running => "RUNNING",
            JobState::Waiting => "WAITING",
            JobState::Parked => "PARKED",
            JobState::Diverged => "DIVERGED",
            JobState::Completed => "COMPLETED",
            JobState::Partial => "PARTIAL",
            JobState::Failed => "FAILED",
            JobState::Cancelled => "CANCELLED",
        }
    }

    /// Returns the state with the name `text`.
    pub fn parse(text: &str) -> Option<JobState> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Returns the next state according to the transition table.
    pub fn next(self, input: JobInput) -> Result<JobState, IllegalJobTransition> {
        use JobInput as I;
        use JobState as S;
        Ok(match (self, input) {
            (S::Pending, I::Claimed) => S::Running,
            (S::Running, I::Released) => S::Pending,
            (S::Running, I::Wait) => S::Waiting,
            (S::Running, I::Park) => S::Parked,
            (S::Running, I::Diverge) => S::Diverged,
            (S::Waiting | S::Parked | S::Diverged, I::Wake) => S::Pending,
            (S::Running, I::Complete) => S::Completed,
            (S::Running, I::EndPartial) => S::Partial,
            (S::Running, I::Fail) => S::Failed,
            (S::Pending | S::Running | S::Waiting | S::Parked | S::Diverged, I::Cancel) => S::Cancelled,
            (S::Partial | S::Failed, I::Reopen) => S::Pending,
            (S::Completed | S::Partial | S::Failed, I::Undo) => S::Pending,
            (from, input) => return Err(IllegalJobTransition { from, input }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: [JobInput; 12] = [
        JobInput::Claimed,
        JobInput::Released,
        JobInput::Wait,
        JobInput::Park,
        JobInput::Diverge,
        JobInput::Wake,
        JobInput::Complete,
        JobInput::EndPartial,
        JobInput::Fail,
        JobInput::Cancel,
        JobInput::Reopen,
        JobInput::Undo,
    ];

    /// The documented table, with one row for each state and one column for each of [`INPUTS`].
    #[rustfmt::skip]
    const TABLE: [(&str, [&str; 12]); 9] = [
        //            Claimed    Released   Wait       Park      Diverge     Wake       Complete     EndPartial Fail      Cancel       Reopen     Undo
        ("PENDING",   ["RUNNING", "",        "",        "",       "",         "",        "",          "",        "",       "CANCELLED", "",        ""]),
        ("RUNNING",   ["",        "PENDING", "WAITING", "PARKED", "DIVERGED", "",        "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "",        ""]),
        ("WAITING",   ["",        "",        "",        "",       "",         "PENDING", "",          "",        "",       "CANCELLED", "",        ""]),
        ("PARKED",    ["",        "",        "",        "",       "",         "PENDING", "",          "",        "",       "CANCELLED", "",        ""]),
        ("DIVERGED",  ["",        "",        "",        "",       "",         "PENDING", "",          "",        "",       "CANCELLED", "",        ""]),
        ("COMPLETED", ["",        "",        "",        "",       "",         "",        "",          "",        "",       "",          "",        "PENDING"]),
        ("PARTIAL",   ["",        "",        "",        "",       "",         "",        "",          "",        "",       "",          "PENDING", "PENDING"]),
        ("FAILED",    ["",        "",        "",        "",       "",         "",        "",          "",        "",       "",          "PENDING", "PENDING"]),
        ("CANCELLED", ["",        "",        "",        "",       "",         "",        "",          "",        "",       "",          "",        ""]),
    ];

    /// Tests invariant I6: the code allows exactly the documented transitions of a job.
    #[test]
    fn transition_table_matches_documentation() {
        for (from, (name, row)) in JobState::ALL.into_iter().zip(TABLE) {
            assert_eq!(from.as_str(), name);
            for (input, expected) in INPUTS.into_iter().zip(row) {
                match from.next(input) {
                    Ok(to) => assert_eq!(to.as_str(), expected, "{from:?} on {input:?}"),
                    Err(illegal) => {
                        assert_eq!("", expected, "{illegal}");
                        assert_eq!(illegal, IllegalJobTransition { from, input });
                    }
                }
            }
        }
    }

    #[test]
    fn transition_table_covers_every_input() {
        // Each input has a column in the table. A new input does not compile until this match lists it.
        let index = |input: JobInput| match input {
            JobInput::Claimed => 0,
            JobInput::Released => 1,
            JobInput::Wait => 2,
            JobInput::Park => 3,
            JobInput::Diverge => 4,
            JobInput::Wake => 5,
            JobInput::Complete => 6,
            JobInput::EndPartial => 7,
            JobInput::Fail => 8,
            JobInput::Cancel => 9,
            JobInput::Reopen => 10,
            JobInput::Undo => 11,
        };
        assert_eq!(INPUTS.map(index), std::array::from_fn(|at| at));
    }

    #[test]
    fn final_states_are_left_only_by_reopening() {
        for state in JobState::ALL {
            let reopens = |input: &&JobInput| matches!(input, JobInput::Reopen | JobInput::Undo);
            let moves = INPUTS.iter().filter(|input| !reopens(input)).any(|input| state.next(*input).is_ok());
            assert_eq!(state.is_terminal(), !moves, "{state:?}");
            assert_eq!(JobState::parse(state.as_str()), Some(state));
        }
        assert_eq!(JobState::parse("running"), None);
    }
}
