//! Topics of events: the start of the log, the job itself, a step, a call, a compensation, a confirmation, a gate or
//! a wait.

use super::Body;

/// Subject of an event. Code that handles events by topic has one function for each topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The first two events of every log: the accepted request and its plan.
    Start,
    /// The job itself: claims, waiting, parking, requests of people, forks, reopening and the end.
    Job,
    /// A step of the plan: its state, its output, and whether a result is reused.
    Step,
    /// A call of a tool: its tries, answers and verdicts.
    Call,
    /// The undoing of a call.
    Compensation,
    /// Recorded changes of the world, and checks that they still hold.
    Confirmation,
    /// Approvals.
    Gate,
    /// Waits for signals and times.
    Wait,
}

impl Body {
    /// Returns the topic of the event.
    pub fn topic(&self) -> Topic {
        match self {
            Body::IntentAccepted { .. } | Body::PlanCreated { .. } => Topic::Start,
            Body::JobClaimed { .. }
            | Body::JobWaiting { .. }
            | Body::JobParked { .. }
            | Body::JobUnparked { .. }
            | Body::JobReleased { .. }
            | Body::JobDiverged { .. }
            | Body::JobForked { .. }
            | Body::JobReopened { .. }
            | Body::JobCancelRequested { .. }
            | Body::JobCancelled {}
            | Body::JobPartial {}
            | Body::JobCompleted {}
            | Body::JobFailed { .. } => Topic::Job,
            Body::StepReady { .. }
            | Body::StepStarted { .. }
            | Body::StepSucceeded { .. }
            | Body::StateCheckpointed { .. }
            | Body::StepFailed { .. }
            | Body::StepSkipped { .. }
            | Body::StepAborted { .. }
            | Body::StepCancelled { .. }
            | Body::StepBlocked { .. }
            | Body::StepUnblocked { .. }
            | Body::StepRetryScheduled { .. }
            | Body::ReuseDecided { .. }
            | Body::OutcomeRecorded { .. }
            | Body::AsyncEventEmitted { .. } => Topic::Step,
            Body::ToolInvocationStarted { .. }
            | Body::ToolInvocationFinished { .. }
            | Body::CommandCommitted { .. }
            | Body::InvocationResolved { .. }
            | Body::ResolutionConflict { .. }
            | Body::ActionReused { .. }
            | Body::BudgetExceeded { .. } => Topic::Call,
            Body::CompensationStarted { .. }
            | Body::CompensationFinished { .. }
            | Body::CompensationFailed { .. }
            | Body::CompensationReopened { .. }
            | Body::CompensationLeft { .. } => Topic::Compensation,
            Body::StateChanged { .. } | Body::ConfirmationFailed { .. } | Body::ConfirmationAccepted { .. } => {
                Topic::Confirmation
            }
            Body::GateRequested { .. }
            | Body::GateApproved { .. }
            | Body::GateRejected { .. }
            | Body::GateExpired { .. } => Topic::Gate,
            Body::WaitStarted { .. }
            | Body::SignalKept { .. }
            | Body::WaitCompleted { .. }
            | Body::WaitTimedOut { .. }
            | Body::TimerFired { .. } => Topic::Wait,
        }
    }
}
