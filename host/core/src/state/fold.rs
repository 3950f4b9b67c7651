//! Folding of events into the state of a job. Every transition goes through the tables of [`crate::model::job`] and
//! [`crate::model::step`]. An event that the tables do not allow is an error.

use super::{Job, Step};
use crate::event::{Body, Event, Topic};
use crate::model::ids::StepId;
use crate::model::job::JobState;
use crate::model::step::StepState;
use crate::plan::Plan;
use crate::rules::cost;
use crate::state::error::{FoldError, invalid_event};

impl Job {
    /// Returns the job state after these events.
    pub fn fold(events: &[Event]) -> Result<Job, FoldError> {
        let mut job = Self::begin(events)?;
        for event in &events[2..] {
            job.apply(event)?;
        }
        Ok(job)
    }

    /// Returns the job state after the first two events.
    fn begin(events: &[Event]) -> Result<Job, FoldError> {
        let missing = |seq, events: &[Event]| FoldError::BadStart {
            seq,
            found: events.get(seq as usize).map_or_else(|| "missing".to_owned(), Event::name),
        };
        let Some(Event { body: Body::IntentAccepted { header }, .. }) = events.first() else {
            return Err(missing(0, events));
        };
        let Some(Event { body: Body::PlanCreated { plan, plan_hash }, .. }) = events.get(1) else {
            return Err(missing(1, events));
        };
        let plan: Plan = serde_json::from_value(plan.clone()).map_err(|error| FoldError::Plan(error.to_string()))?;
        if plan.hash() != *plan_hash {
            return Err(FoldError::Plan("its hash differs from the recorded one".to_owned()));
        }
        if events[0].seq != 0 || events[1].seq != 1 || events[1].prev_hash != events[0].hash {
            return Err(FoldError::BrokenChain { expected: 1, found: events[1].seq });
        }
        let waits = Job::initial_waits(&plan);
        let steps = plan.steps.iter().map(|step| Step::new(step.step_id.clone())).collect();
        Ok(Job {
            header: (**header).clone(),
            plan,
            plan_hash: *plan_hash,
            state: JobState::Pending,
            attempt: 0,
            next_seq: 2,
            head: events[1].hash,
            accepted_us: events[0].time_us,
            last_us: events[1].time_us,
            steps,
            calls: Default::default(),
            gates: Default::default(),
            waits,
            signals: Vec::new(),
            cancel: None,
            undo: None,
            compensations: Default::default(),
            undo_abandoned: false,
            attempts_without_progress: 0,
            claims_without_events: 0,
            steps_without_progress: Vec::new(),
            parked_cause: None,
            has_progressed: false,
            parked: None,
            waiting_until_us: None,
            divergence: None,
            continued: false,
            aborted: false,
            failure: None,
            cost: Default::default(),
            forked: None,
            confirmations: Default::default(),
        })
    }

    /// Applies one more event to the job state.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        if event.seq != self.next_seq || event.prev_hash != self.head {
            return Err(FoldError::BrokenChain { expected: self.next_seq, found: event.seq });
        }
        if !event.body.is_audit() && !matches!(event.body, Body::JobReopened { .. }) && self.state.is_terminal() {
            return Err(invalid_event(event, "the job has ended"));
        }
        self.apply_body(event)?;
        if let Some(charge) = cost::charge(event) {
            self.cost.add(&charge.totals);
        }
        if event.body.is_progress() && !self.has_progressed {
            self.has_progressed = true;
            self.attempts_without_progress = 0;
        }
        if !matches!(event.body, Body::JobClaimed { .. }) {
            self.claims_without_events = 0;
        }
        self.next_seq += 1;
        self.head = event.hash;
        self.last_us = event.time_us;
        Ok(())
    }

    fn apply_body(&mut self, event: &Event) -> Result<(), FoldError> {
        match event.body.topic() {
            Topic::Start => {
                Err(invalid_event(event, "intent_accepted and plan_created are allowed only at the start of a log"))
            }
            Topic::Job => self.apply_job(event),
            Topic::Step => self.apply_step(event),
            Topic::Call => self.apply_call(event),
            Topic::Compensation => self.apply_compensation(event),
            Topic::Confirmation => self.apply_confirmation(event),
            Topic::Gate => self.apply_gate(event),
            Topic::Wait => self.apply_wait(event),
        }
    }
}

impl Step {
    fn new(id: StepId) -> Self {
        Self {
            id,
            state: StepState::Pending,
            input: None,
            started_us: None,
            output: None,
            result_type: None,
            failure: None,
            skipped: None,
            would_call: None,
            copied: None,
            aborted_tries: 0,
            blocked: None,
            key_holder: None,
            reuse: None,
            retry_at_us: None,
            emits: Vec::new(),
            outcome: None,
        }
    }
}

impl Body {
    /// Returns true if the event may follow the end of a job. It then only adds information about finished work.
    pub fn is_audit(&self) -> bool {
        matches!(self, Body::ResolutionConflict { .. } | Body::ConfirmationAccepted { .. })
    }

    /// Returns true if the event counts as progress of the job. Claims, releases, aborts, unparking and failed
    /// confirmations are not progress.
    pub fn is_progress(&self) -> bool {
        !matches!(
            self,
            Body::JobClaimed { .. }
                | Body::StepAborted { .. }
                | Body::JobUnparked { .. }
                | Body::JobReleased { .. }
                | Body::ConfirmationFailed { .. }
        )
    }

    /// Returns true if the event ends a step, a try, a call or a compensation.
    pub fn is_completion(&self) -> bool {
        matches!(
            self,
            Body::StepSucceeded { .. }
                | Body::StepFailed { .. }
                | Body::ToolInvocationFinished { .. }
                | Body::CommandCommitted { .. }
                | Body::CompensationFinished { .. }
        )
    }
}
