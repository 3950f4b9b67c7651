//! Expectations of a job: the signals of its wait steps and the decisions on its gates.
//!
//! A store keeps one row for each expectation and writes it together with the events that change it. The transaction
//! that accepts a request can therefore check that the job still expects the request. A request that the job no
//! longer expects is refused and never acknowledged.

use serde::{Deserialize, Serialize};

use crate::model::ids::{Slot, StepId};
use crate::plan::{Plan, StepKind, wait};

/// Progress of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExpectationState {
    /// The wait or gate has not started. A signal that arrives early is kept until its wait starts.
    Pending,
    /// The wait or gate is open.
    Open,
    /// The signal or decision arrived.
    Done,
    /// The wait or gate ended. A signal or decision is refused.
    Over,
}

impl ExpectationState {
    /// All states.
    pub const ALL: [ExpectationState; 4] =
        [ExpectationState::Pending, ExpectationState::Open, ExpectationState::Done, ExpectationState::Over];

    /// Returns the number under which the state is stored. The numbers must never change.
    pub fn number(self) -> i64 {
        match self {
            ExpectationState::Pending => 1,
            ExpectationState::Open => 2,
            ExpectationState::Done => 3,
            ExpectationState::Over => 4,
        }
    }

    /// Returns the state stored as `number`.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.number() == number)
    }
}

/// One signal or gate decision that a job expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// Name of the expectation, `wait/<step>` or `gate/<slot>`. Unique within the job.
    pub name: String,
    /// Correlation key of a wait, or the hash of a gate. `None` while the binding of the key is not resolved.
    pub key: Option<String>,
    /// Progress of the expectation.
    pub state: ExpectationState,
    /// Time at which the wait or gate ends, in microseconds since 1970 UTC. A request that arrives after this
    /// time is refused, even if the job has not recorded the end yet.
    pub until_us: Option<i64>,
}

/// Change of a durable timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerWrite {
    /// Name of the timer, `wait/<step>` or `gate/<slot>`. Unique within the job.
    pub name: String,
    /// Time at which the timer fires, in microseconds since 1970 UTC. `None` deletes the timer.
    pub due_us: Option<i64>,
}

/// Returns the name of a wait step's expectation.
pub fn wait_name(step: &StepId) -> String {
    format!("wait/{step}")
}

/// Returns the name of a gate's expectation.
pub fn gate_name(slot: &Slot) -> String {
    format!("gate/{slot}")
}

/// Returns the expectations of a new job: one for each wait step of the plan that has a correlation key.
pub fn of_plan(plan: &Plan) -> Vec<Expectation> {
    let waits = plan.steps.iter().filter(|step| step.kind == StepKind::Wait);
    waits
        .filter(|step| step.payload.get("correlation_key").is_some())
        .map(|step| Expectation {
            name: wait_name(&step.step_id),
            key: wait::literal_key(&step.payload).map(str::to_owned),
            state: ExpectationState::Pending,
            until_us: None,
        })
        .collect()
}

impl Expectation {
    /// Returns the progress of the expectation at the time `now_us`. An open expectation counts as over once its end
    /// has passed.
    pub(super) fn state_at(&self, now_us: i64) -> ExpectationState {
        let late = self.until_us.is_some_and(|until_us| until_us <= now_us);
        if late && self.state == ExpectationState::Open { ExpectationState::Over } else { self.state }
    }
}
