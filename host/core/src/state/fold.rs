//! Folding of events into the state of a job. Every transition goes through the tables of [`crate::model::job`] and
//! [`crate::model::step`]. An event that the tables do not allow is an error.

use super::{Call, EmittedEvent, Job, Outcome, Step};
use crate::event::{Body, Event, ReopenPurpose};
use crate::model::error::Code;
use crate::model::ids::{Slot, StepId};
use crate::model::job::{JobInput, JobState};
use crate::model::step::{StepInput, StepState};
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
        match &event.body {
            Body::IntentAccepted { .. } | Body::PlanCreated { .. } => {
                return Err(invalid_event(
                    event,
                    "intent_accepted and plan_created are allowed only at the start of a log",
                ));
            }
            Body::JobClaimed { .. } => self.apply_claim(event)?,
            Body::StepReady { step_id, input } => {
                let step = self.move_step(event, step_id, StepInput::Ready)?;
                step.input = Some(*input);
            }
            Body::StepStarted { step_id } => {
                let step = self.move_step(event, step_id, StepInput::Start)?;
                step.started_us.get_or_insert(event.time_us);
            }
            Body::StepSucceeded { step_id, result_type } => {
                let result_type = *result_type;
                // A step that succeeds without having started can only have reused an earlier result.
                let found = self.step_mut(event, step_id)?;
                let is_reused = found.state == StepState::Ready && found.started_us.is_none();
                let input = if is_reused { StepInput::Reuse } else { StepInput::Succeed };
                let step = self.end_step(event, step_id, input)?;
                step.result_type = Some(result_type);
            }
            Body::StateCheckpointed { step_id, output } => {
                let step = self.step_mut(event, step_id)?;
                step.output = Some(*output);
            }
            Body::StepFailed { step_id, result_type, failure } => {
                let step = self.end_step(event, step_id, StepInput::FailFinal)?;
                step.result_type = Some(*result_type);
                step.failure = Some(failure.clone());
            }
            Body::StepSkipped { step_id, reason, because, call } => {
                let step = self.move_step(event, step_id, StepInput::Skip)?;
                step.skipped = Some((*reason, because.clone()));
                step.would_call = call.as_deref().cloned();
            }
            Body::StepAborted { step_id, .. } => {
                let step = self.move_restarted_step(event, step_id, StepInput::Abort)?;
                step.aborted_tries += 1;
            }
            Body::StepCancelled { step_id } => {
                self.move_step(event, step_id, StepInput::Cancel)?;
            }
            Body::StepBlocked { step_id, slot, reason, holder } => {
                let step = self.move_restarted_step(event, step_id, StepInput::Block)?;
                step.blocked = Some((slot.clone(), *reason));
                step.key_holder.clone_from(holder);
            }
            Body::StepUnblocked { step_id } => self.unblock_step(event, step_id)?,
            Body::StepRetryScheduled { step_id, slot, code, not_before_us } => {
                let call = self.call_mut(event, slot)?;
                call.retry_at_us = Some(*not_before_us);
                call.not_yet_answers += u32::from(*code == Code::IndeterminateEffect);
                if slot.is_step() {
                    let step = self.move_restarted_step(event, step_id, StepInput::FailRetryable)?;
                    step.retry_at_us = Some(*not_before_us);
                }
            }
            Body::ToolInvocationStarted { .. }
            | Body::ToolInvocationFinished { .. }
            | Body::CommandCommitted { .. }
            | Body::InvocationResolved { .. }
            | Body::ActionReused { .. }
            | Body::ResolutionConflict { .. } => self.apply_call(event)?,
            Body::CompensationStarted { .. }
            | Body::CompensationFinished { .. }
            | Body::CompensationFailed { .. }
            | Body::CompensationReopened { .. }
            | Body::CompensationLeft { .. } => self.apply_compensation(event)?,
            Body::ReuseDecided { step_id, reused, from, .. } => {
                self.step_mut(event, step_id)?.reuse = Some((*reused, from.clone()));
            }
            Body::BudgetExceeded { slot, .. } => {
                self.step_mut(event, &slot.step())?;
            }
            Body::StateChanged { .. } | Body::ConfirmationFailed { .. } | Body::ConfirmationAccepted { .. } => {
                self.apply_confirmation(event)?;
            }
            Body::OutcomeRecorded { step_id, outcome_id, outcome_type, status, sensitivity } => {
                self.step_mut(event, step_id)?.outcome = Some(Outcome {
                    id: outcome_id.clone(),
                    outcome_type: outcome_type.clone(),
                    status: status.clone(),
                    sensitivity: sensitivity.clone(),
                });
            }
            Body::GateRequested { .. }
            | Body::GateApproved { .. }
            | Body::GateRejected { .. }
            | Body::GateExpired { .. } => self.apply_gate(event)?,
            Body::WaitStarted { .. }
            | Body::SignalKept { .. }
            | Body::WaitCompleted { .. }
            | Body::WaitTimedOut { .. }
            | Body::TimerFired { .. } => self.apply_wait(event)?,
            Body::AsyncEventEmitted { step_id, n, after_calls, name, payload } => {
                let emit = EmittedEvent { after_calls: *after_calls, name: name.clone(), payload: *payload };
                let emits = &mut self.step_mut(event, step_id)?.emits;
                if emits.len() as u32 != *n {
                    return Err(invalid_event(event, "announced events must be numbered without gaps"));
                }
                emits.push(emit);
            }
            Body::JobWaiting { until_us } => {
                self.move_job(event, JobInput::Wait)?;
                self.waiting_until_us = Some(*until_us);
            }
            Body::JobReleased { .. } => self.move_job(event, JobInput::Released)?,
            Body::JobParked { reason, slot, cause } => {
                self.move_job(event, JobInput::Park)?;
                self.parked = Some((*reason, slot.clone()));
                self.parked_cause.clone_from(cause);
            }
            Body::JobUnparked { cause } => {
                self.undo_abandoned |= cause == "abort" && self.is_aborting();
                if cause == "continue" && self.is_aborting() {
                    self.calls.values_mut().for_each(|call| call.conflict_accepted = call.conflict);
                }
                self.continued |= cause == "continue";
                self.aborted |= cause == "abort";
                self.attempts_without_progress = 0;
            }
            Body::JobDiverged { report } => {
                self.move_job(event, JobInput::Diverge)?;
                self.divergence = Some((**report).clone());
            }
            Body::JobCancelRequested { by } => self.cancel = Some(by.clone()),
            Body::JobForked { .. } => self.apply_fork(event)?,
            Body::JobReopened { steps, calls, purpose: ReopenPurpose::Retry, .. } => {
                self.move_job(event, JobInput::Reopen)?;
                self.reopen(event, steps, calls)?;
            }
            Body::JobReopened { by, steps, calls, purpose: ReopenPurpose::Undo } => {
                if !(steps.is_empty() && calls.is_empty()) {
                    return Err(invalid_event(event, "a reopening for an undo must name no steps and no calls"));
                }
                self.move_job(event, JobInput::Undo)?;
                self.reopen_to_undo(by);
            }
            Body::JobCancelled {} => {
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::Cancel)?;
            }
            Body::JobPartial {} => {
                self.refuse_end_of_undo(event)?;
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::EndPartial)?;
            }
            Body::JobCompleted {} => {
                self.refuse_end_of_undo(event)?;
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::Complete)?;
            }
            Body::JobFailed { code } => {
                self.refuse_end_of_undo(event)?;
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::Fail)?;
                self.failure = *code;
            }
        }
        Ok(())
    }

    fn apply_claim(&mut self, event: &Event) -> Result<(), FoldError> {
        if event.attempt <= self.attempt {
            return Err(invalid_event(event, "attempt numbers must increase"));
        }
        // A job that waited or was parked has left the state `Running`. A job that is still `Running` was cut
        // off in its previous attempt.
        if self.state == JobState::Running && !self.has_progressed {
            self.attempts_without_progress += 1;
            let under_way =
                |step: &&Step| step.started_us.is_some() && !step.state.is_final() && step.blocked.is_none();
            self.steps_without_progress = self.steps.iter().filter(under_way).map(|step| step.id.clone()).collect();
        }
        // A gap in the attempt numbers stands for attempts that were cut off before their claim event became durable.
        // These attempts made no progress either.
        self.attempts_without_progress += event.attempt - self.attempt - 1;
        self.claims_without_events += event.attempt - self.attempt;
        match self.state {
            // An inbox row or a timer woke the job before this claim.
            JobState::Waiting | JobState::Parked | JobState::Diverged => self.move_job(event, JobInput::Wake)?,
            // The lease was lost. The log records the loss only by this next claim.
            JobState::Running => self.move_job(event, JobInput::Released)?,
            _ => {}
        }
        self.move_job(event, JobInput::Claimed)?;
        self.attempt = event.attempt;
        self.has_progressed = false;
        self.parked = None;
        self.parked_cause = None;
        self.waiting_until_us = None;
        self.divergence = None;
        for step in &mut self.steps {
            if step.state == StepState::Running {
                step.state = step.state.next(StepInput::Abort).map_err(|source| FoldError::Step {
                    seq: event.seq,
                    step: step.id.clone(),
                    source,
                })?;
            }
        }
        Ok(())
    }

    fn move_job(&mut self, event: &Event, input: JobInput) -> Result<(), FoldError> {
        self.state = self.state.next(input).map_err(|source| FoldError::Job { seq: event.seq, source })?;
        Ok(())
    }

    pub(super) fn step_mut(&mut self, event: &Event, id: &StepId) -> Result<&mut Step, FoldError> {
        self.steps
            .iter_mut()
            .find(|step| step.id == *id)
            .ok_or_else(|| invalid_event(event, format!("there is no step {id}")))
    }

    pub(super) fn call_mut(&mut self, event: &Event, slot: &Slot) -> Result<&mut Call, FoldError> {
        self.calls.get_mut(slot).ok_or_else(|| invalid_event(event, format!("there is no call at {slot}")))
    }

    pub(super) fn move_step(&mut self, event: &Event, id: &StepId, input: StepInput) -> Result<&mut Step, FoldError> {
        let step = self.step_mut(event, id)?;
        step.state =
            step.state.next(input).map_err(|source| FoldError::Step { seq: event.seq, step: id.clone(), source })?;
        Ok(step)
    }

    /// Applies a transition to a step that a new attempt has restarted. The restart has no event of its own, so
    /// a started step in state `Ready` counts as `Running`.
    fn move_restarted_step(&mut self, event: &Event, id: &StepId, input: StepInput) -> Result<&mut Step, FoldError> {
        let step = self.step_mut(event, id)?;
        if step.state == StepState::Ready && step.started_us.is_some() {
            step.state = StepState::Running;
        }
        self.move_step(event, id, input)
    }

    fn end_step(&mut self, event: &Event, id: &StepId, input: StepInput) -> Result<&mut Step, FoldError> {
        let step = self.move_restarted_step(event, id, input)?;
        step.blocked = None;
        step.key_holder = None;
        step.retry_at_us = None;
        Ok(step)
    }

    pub(super) fn unblock_step(&mut self, event: &Event, id: &StepId) -> Result<(), FoldError> {
        let input = match self.step_mut(event, id)?.state {
            StepState::FailedRetryable => StepInput::BackoffPassed,
            _ => StepInput::Unblock,
        };
        let step = self.move_step(event, id, input)?;
        step.blocked = None;
        step.key_holder = None;
        step.retry_at_us = None;
        Ok(())
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
    /// Returns true if the event may follow the end of a job. Such an event only adds information about
    /// finished work.
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
