//! State machine of steps (§7). A single table lists the legal transitions, and all others are refused.

use serde::{Deserialize, Serialize};

/// State of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepState {
    /// At least one dependency has not ended.
    Pending,
    /// The step may start.
    Ready,
    /// The step runs.
    Running,
    /// The step waits for approval.
    WaitingApproval,
    /// The step is a wait step. Its signal has not arrived and its time has not come.
    WaitingSignal,
    /// The step waits for a gate of a call inside the step, a call in doubt, an action in progress or a long
    /// backoff.
    Blocked,
    /// The step failed and will be retried.
    FailedRetryable,
    /// The step ended with an output.
    Succeeded,
    /// The step failed, without further retries.
    FailedFinal,
    /// The step will not run.
    Skipped,
    /// The job was cancelled before the step ended.
    Cancelled,
}

/// Input of the step state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepInput {
    /// The dependencies are satisfied and the input is resolved.
    Ready,
    /// A dependency failed or was skipped, or a dry run leaves the step out.
    Skip,
    /// The step starts.
    Start,
    /// The step ended with an output.
    Succeed,
    /// A result or receipt of an earlier job replaces the execution.
    Reuse,
    /// The step failed, without further retries.
    FailFinal,
    /// The step failed, and a retry is scheduled.
    FailRetryable,
    /// The backoff before the scheduled retry has passed.
    BackoffPassed,
    /// The try of the step was stopped, or was lost with the worker. The step runs again and replays the job's
    /// log.
    Abort,
    /// The step needs approval.
    AskApproval,
    /// An approver approved the step.
    Approve,
    /// The wait step starts to wait.
    AwaitSignal,
    /// The step enters [`StepState::Blocked`] and waits.
    Block,
    /// The reason for blocking the step has ended.
    Unblock,
    /// The job is cancelled.
    Cancel,
    /// The job is reopened for a retry.
    Reopen,
}

/// Error: the table has no transition for this state and input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal transition of a step: {from:?} on {input:?}")]
pub struct IllegalStepTransition {
    /// State before the input.
    pub from: StepState,
    /// The refused input.
    pub input: StepInput,
}

impl StepState {
    /// All states.
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

    /// Returns true if the state is final.
    pub fn is_final(self) -> bool {
        matches!(self, StepState::Succeeded | StepState::FailedFinal | StepState::Skipped | StepState::Cancelled)
    }

    /// Returns the name that is displayed.
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

    /// Returns the next state according to the transition table.
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

    /// The documented table. A row has a state, and the next state for each of [`INPUTS`]. An empty text means that the
    /// state refuses the input. The comment in the first line names the inputs above their columns.
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

    /// I6: the code allows exactly the documented transitions of a step.
    #[test]
    fn transition_table_matches_documentation() {
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
    fn transition_table_covers_every_input() {
        // Each input has a column in the table. If a new input is added, this match does not compile until the
        // input is added here.
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
    fn final_states_are_left_only_by_reopening() {
        for state in StepState::ALL {
            let moves =
                INPUTS.iter().filter(|input| **input != StepInput::Reopen).any(|input| state.next(*input).is_ok());
            assert_eq!(state.is_final(), !moves, "{state:?}");
        }
    }
}
