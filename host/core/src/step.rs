//! The state machine of steps (§7): one table, every other pair refused.

use serde::{Deserialize, Serialize};

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepState {
    /// Its dependencies are not over.
    Pending,
    /// It may run.
    Ready,
    /// It runs.
    Running,
    /// Somebody has to approve it.
    WaitingApproval,
    /// It is a wait: its signal or its time has not come.
    WaitingSignal,
    /// It waits for something else outside itself.
    Blocked,
    /// It will be tried again.
    FailedRetryable,
    /// It has an output.
    Succeeded,
    /// It failed for good.
    FailedFinal,
    /// It will not run.
    Skipped,
    /// The job was cancelled first.
    Cancelled,
}

/// What moves a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepInput {
    /// Dependencies satisfied, input resolved.
    Ready,
    /// A dependency will not deliver, or a dry run leaves it out.
    Skip,
    /// It starts.
    Start,
    /// It has an output.
    Succeed,
    /// A receipt of an earlier job stands in.
    Reuse,
    /// It failed for good.
    FailFinal,
    /// It failed, and a retry has its time.
    FailRetryable,
    /// That time has come.
    BackoffPassed,
    /// Its attempt was lost or its try stopped: from its log again.
    Abort,
    /// Somebody has to approve.
    AskApproval,
    /// Somebody approved.
    Approve,
    /// It is a wait, and begins to wait.
    AwaitSignal,
    /// It waits: a gate inside, a call in doubt, an action in progress, a long backoff.
    Block,
    /// What it waited for is there.
    Unblock,
    /// The job is cancelled.
    Cancel,
    /// The job is reopened: another round.
    Reopen,
}

/// A pair that the table does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal transition of a step: {from:?} on {input:?}")]
pub struct IllegalStepTransition {
    /// Where it stood.
    pub from: StepState,
    /// What came.
    pub input: StepInput,
}

impl StepState {
    /// Every state.
    pub const ALL: [StepState; 11] = [
        StepState::Pending,
        StepState::Ready,
        StepState::Running,
        StepState::WaitingApproval,
        StepState::WaitingSignal,
        StepState::Blocked,
        StepState::FailedRetryable,
        StepState::Succeeded,
        StepState::FailedFinal,
        StepState::Skipped,
        StepState::Cancelled,
    ];

    /// Whether it is over.
    pub fn is_final(self) -> bool {
        matches!(self, StepState::Succeeded | StepState::FailedFinal | StepState::Skipped | StepState::Cancelled)
    }

    /// The word that is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            StepState::Pending => "PENDING",
            StepState::Ready => "READY",
            StepState::Running => "RUNNING",
            StepState::WaitingApproval => "WAITING_APPROVAL",
            StepState::WaitingSignal => "WAITING_SIGNAL",
            StepState::Blocked => "BLOCKED",
            StepState::FailedRetryable => "FAILED_RETRYABLE",
            StepState::Succeeded => "SUCCEEDED",
            StepState::FailedFinal => "FAILED_FINAL",
            StepState::Skipped => "SKIPPED",
            StepState::Cancelled => "CANCELLED",
        }
    }

    /// The table.
    pub fn next(self, input: StepInput) -> Result<StepState, IllegalStepTransition> {
        use StepInput as I;
        use StepState as S;
        Ok(match (self, input) {
            (S::Pending, I::Ready) => S::Ready,
            (S::Pending | S::Ready | S::Running, I::Skip) => S::Skipped,
            (S::Ready, I::Start) => S::Running,
            (S::Ready, I::Reuse) => S::Succeeded,
            (S::Ready | S::Running, I::Block) => S::Blocked,
            (S::Ready, I::AskApproval) => S::WaitingApproval,
            (S::WaitingApproval, I::Approve) => S::Ready,
            (S::Ready, I::AwaitSignal) => S::WaitingSignal,
            (
                S::Ready | S::WaitingApproval | S::WaitingSignal | S::Blocked | S::Running | S::FailedRetryable,
                I::FailFinal,
            ) => S::FailedFinal,
            (S::Running | S::WaitingSignal, I::Succeed) => S::Succeeded,
            (S::Running, I::FailRetryable) => S::FailedRetryable,
            (S::FailedRetryable, I::BackoffPassed) => S::Ready,
            (S::Running, I::Abort) => S::Ready,
            (S::Blocked, I::Unblock) => S::Ready,
            (S::FailedFinal | S::Skipped, I::Reopen) => S::Pending,
            (from, I::Cancel) if !from.is_final() => S::Cancelled,
            (from, input) => return Err(IllegalStepTransition { from, input }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: [StepInput; 16] = [
        StepInput::Ready,
        StepInput::Skip,
        StepInput::Start,
        StepInput::Succeed,
        StepInput::Reuse,
        StepInput::FailFinal,
        StepInput::FailRetryable,
        StepInput::BackoffPassed,
        StepInput::Abort,
        StepInput::AskApproval,
        StepInput::Approve,
        StepInput::Block,
        StepInput::Unblock,
        StepInput::Cancel,
        StepInput::AwaitSignal,
        StepInput::Reopen,
    ];

    /// The documented table: one row for each state, one column for each of [`INPUTS`].
    #[rustfmt::skip]
    const TABLE: [(&str, [&str; 16]); 11] = [
        //                   Ready    Skip       Start      Succeed      Reuse        FailFinal       FailRetryable       Backoff  Abort    AskApproval         Approve  Block      Unblock  Cancel       AwaitSignal    Reopen
        ("PENDING",          ["READY", "SKIPPED", "",        "",          "",          "",             "",                 "",      "",      "",                 "",      "",        "",      "CANCELLED", "", ""]),
        ("READY",            ["",      "SKIPPED", "RUNNING", "",          "SUCCEEDED", "FAILED_FINAL", "",                 "",      "",      "WAITING_APPROVAL", "",      "BLOCKED", "",      "CANCELLED", "WAITING_SIGNAL", ""]),
        ("RUNNING",          ["",      "SKIPPED", "",        "SUCCEEDED", "",          "FAILED_FINAL", "FAILED_RETRYABLE", "",      "READY", "",                 "",      "BLOCKED", "",      "CANCELLED", "", ""]),
        ("WAITING_APPROVAL", ["",      "",        "",        "",          "",          "FAILED_FINAL", "",                 "",      "",      "",                 "READY", "",        "",      "CANCELLED", "", ""]),
        ("WAITING_SIGNAL",   ["",      "",        "",        "SUCCEEDED", "",          "FAILED_FINAL", "",                 "",      "",      "",                 "",      "",        "",      "CANCELLED", "", ""]),
        ("BLOCKED",          ["",      "",        "",        "",          "",          "FAILED_FINAL", "",                 "",      "",      "",                 "",      "",        "READY", "CANCELLED", "", ""]),
        ("FAILED_RETRYABLE", ["",      "",        "",        "",          "",          "FAILED_FINAL", "",                 "READY", "",      "",                 "",      "",        "",      "CANCELLED", "", ""]),
        ("SUCCEEDED",        ["",      "",        "",        "",          "",          "",             "",                 "",      "",      "",                 "",      "",        "",      "", "", ""]),
        ("FAILED_FINAL",     ["",      "",        "",        "",          "",          "",             "",                 "",      "",      "",                 "",      "",        "",      "", "", "PENDING"]),
        ("SKIPPED",          ["",      "",        "",        "",          "",          "",             "",                 "",      "",      "",                 "",      "",        "",      "", "", "PENDING"]),
        ("CANCELLED",        ["",      "",        "",        "",          "",          "",             "",                 "",      "",      "",                 "",      "",        "",      "", "", ""]),
    ];

    /// I6.
    #[test]
    fn every_pair_is_as_documented() {
        for (from, (name, row)) in StepState::ALL.into_iter().zip(TABLE) {
            assert_eq!(from.as_str(), name);
            for (input, expected) in INPUTS.into_iter().zip(row) {
                match from.next(input) {
                    Ok(to) => assert_eq!(to.as_str(), expected, "{from:?} on {input:?}"),
                    Err(illegal) => {
                        assert_eq!("", expected, "{illegal}");
                        assert_eq!(illegal, IllegalStepTransition { from, input });
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_has_every_input() {
        // A new input has to be put into the table: this match does not compile without it.
        let index = |input: StepInput| match input {
            StepInput::Ready => 0,
            StepInput::Skip => 1,
            StepInput::Start => 2,
            StepInput::Succeed => 3,
            StepInput::Reuse => 4,
            StepInput::FailFinal => 5,
            StepInput::FailRetryable => 6,
            StepInput::BackoffPassed => 7,
            StepInput::Abort => 8,
            StepInput::AskApproval => 9,
            StepInput::Approve => 10,
            StepInput::Block => 11,
            StepInput::Unblock => 12,
            StepInput::Cancel => 13,
            StepInput::AwaitSignal => 14,
            StepInput::Reopen => 15,
        };
        assert_eq!(INPUTS.map(index), std::array::from_fn(|at| at));
    }

    #[test]
    fn what_is_over_stays_over_until_it_is_reopened() {
        for state in StepState::ALL {
            let moves =
                INPUTS.iter().filter(|input| **input != StepInput::Reopen).any(|input| state.next(*input).is_ok());
            assert_eq!(state.is_final(), !moves, "{state:?}");
        }
    }
}
