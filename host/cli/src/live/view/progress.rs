//! Progress of one job: its steps, current activities and elapsed times.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tracing::Level;

use latchwork_core::event::{Body, Event};
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::{JobId, Operator, Slot, StepId};

use crate::display::brief::{elapsed_time, finished_duration};
use crate::live::event_lines;
use crate::live::line::LiveLine;
use crate::text::{Text, Tone};

/// Current activity of a step or call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Activity {
    /// The step is running.
    Running,
    /// A call is in flight.
    CallInFlight,
    /// A compensating call is in flight.
    Compensating,
    /// The call waits for approval.
    Gate,
    /// The step waits for the signal with this correlation key.
    Signal(String),
    /// The step waits for a point in time.
    Timer,
    /// The call waits for its next try. Contains the code of the last failure.
    Retry(Code),
    /// The step or call is blocked. Contains the code of the reason, and the holder of the action key if known.
    Blocked(Code, Option<String>),
}

#[derive(Clone, Debug)]
struct ActivityEntry {
    doing: Activity,
    operator: Option<String>,
    since_us: i64,
    until_us: Option<i64>,
}

impl ActivityEntry {
    fn line(&self, slot: &Slot, now_us: i64) -> Text {
        let indent = if slot.is_step() { "  " } else { "    " };
        let head = format!("{indent}{}", event_lines::slot_label(slot, self.operator.as_deref()));
        let time = elapsed_time(now_us - self.since_us);
        let left = self.until_us.map(|until_us| elapsed_time(until_us - now_us));
        let until = left.as_ref().map(|left| format!(", {left} left")).unwrap_or_default();
        let (tone, what) = match &self.doing {
            Activity::Running => (Tone::Quiet, format!("running {time}")),
            Activity::CallInFlight => (Tone::Good, format!("called {time} ago")),
            Activity::Compensating => (Tone::Attention, format!("being undone {time}")),
            Activity::Gate => (Tone::Attention, format!("needs approval{until}")),
            Activity::Signal(key) => (Tone::Attention, format!("waits for the signal {key:?}{until}")),
            Activity::Timer => (Tone::Quiet, format!("waits{until}")),
            Activity::Retry(code) => {
                (Tone::Attention, format!("{code}: next try in {}", left.unwrap_or_else(|| elapsed_time(0))))
            }
            Activity::Blocked(Code::RequiresApproval, _) => (Tone::Attention, "needs approval".to_owned()),
            Activity::Blocked(code, Some(holder)) => (Tone::Attention, format!("waits: {code}, by {holder}")),
            Activity::Blocked(code, None) => (Tone::Attention, format!("waits: {code}")),
        };
        Text::from(format!("{head}  ")) + tone.of(what)
    }
}

/// Display state of one job.
pub(crate) struct JobProgressView {
    job_id: JobId,
    attempt: u32,
    /// Time when the view was created.
    began_us: i64,
    /// Start time of this command if the command executes the job. `None` if another process executes the
    /// job.
    own_us: Option<i64>,
    /// Time of the claim from which the elapsed time counts. Once this time is set, a claim that occurs after the
    /// creation of the view does not change it.
    claimed_us: Option<i64>,
    /// Time at which the job began to wait for a worker.
    unclaimed_us: Option<i64>,
    /// Steps in the order of the plan, with their operators.
    steps: Vec<(StepId, String)>,
    finished_steps: BTreeSet<StepId>,
    started: BTreeMap<StepId, i64>,
    items: BTreeMap<Slot, ActivityEntry>,
}

impl JobProgressView {
    pub(crate) fn new(job_id: &JobId, now_us: i64, own_us: Option<i64>) -> JobProgressView {
        JobProgressView {
            job_id: job_id.clone(),
            attempt: 0,
            began_us: now_us,
            own_us,
            claimed_us: None,
            unclaimed_us: None,
            steps: Vec::new(),
            finished_steps: BTreeSet::new(),
            started: BTreeMap::new(),
            items: BTreeMap::new(),
        }
    }

    pub(crate) fn job_id(&self) -> &JobId {
        &self.job_id
    }

    /// Applies an event and returns the lines to print.
    pub(crate) fn event(&mut self, event: &Event, now_us: i64) -> Vec<LiveLine> {
        let operator = |slot: &Slot| self.operator(slot);
        let since = match &event.body {
            Body::StepSucceeded { step_id, .. } | Body::StepFailed { step_id, .. } => {
                self.started.get(step_id).copied()
            }
            Body::ToolInvocationFinished { slot, .. } | Body::CompensationFinished { slot } => {
                self.items.get(slot).map(|item| item.since_us)
            }
            _ => None,
        };
        let took =
            since.map(|since_us| format!(" in {}", finished_duration(event.time_us - since_us))).unwrap_or_default();
        let is_known = matches!(&event.body, Body::ToolInvocationStarted { slot, .. } if self.is_called(slot));
        let line = event_lines::event_line(&self.job_id, event, operator, &took).filter(|_| !is_known);
        self.apply(event);
        if matches!(event.body, Body::JobClaimed { .. }) {
            self.claimed_us.get_or_insert(now_us);
        }
        line.into_iter().collect()
    }

    /// Applies an event that was recorded before the view was created.
    ///
    /// If another process executes the job, the elapsed time starts at the last claim. If this command executes the
    /// job, the elapsed time starts at the first claim since the command began.
    pub(crate) fn apply_past(&mut self, event: &Event) {
        self.apply(event);
        if matches!(event.body, Body::JobClaimed { .. }) {
            match self.own_us {
                None => self.claimed_us = Some(event.time_us),
                Some(own_us) if event.time_us >= own_us => drop(self.claimed_us.get_or_insert(event.time_us)),
                Some(_) => {}
            }
        }
    }

    /// Records a call in flight and returns the lines to print.
    pub(crate) fn call(&mut self, slot: &Slot, operator: &Operator, now_us: i64) -> Vec<LiveLine> {
        if self.is_called(slot) {
            return Vec::new();
        }
        self.start_activity(slot.clone(), Activity::CallInFlight, Some(operator.to_string()), now_us, None);
        event_lines::call_line(slot, operator).into_iter().collect()
    }

    /// Formats a log record of a guest. Each line names the step, so that a guest cannot imitate a line of the host.
    pub(crate) fn log(&self, place: &str, level: Level, message: &str) -> Vec<LiveLine> {
        let tone = if level <= Level::WARN { Tone::Attention } else { Tone::Quiet };
        let line = |line: &str| LiveLine { text: tone.of(format!("  {place}  | {line}")), level, is_ephemeral: false };
        message.lines().map(line).collect()
    }

    fn is_called(&self, slot: &Slot) -> bool {
        self.items.get(slot).is_some_and(|item| matches!(item.doing, Activity::CallInFlight | Activity::Compensating))
    }

    fn operator(&self, slot: &Slot) -> Option<String> {
        if let Some(operator) = self.items.get(slot).and_then(|item| item.operator.clone()) {
            return Some(operator);
        }
        let planned = self.steps.iter().find(|(step, _)| slot.is_step() && *step == slot.step());
        planned.map(|(_, operator)| operator.clone())
    }

    fn start_activity(
        &mut self,
        slot: Slot,
        doing: Activity,
        operator: Option<String>,
        since_us: i64,
        until_us: Option<i64>,
    ) {
        let operator = operator.or_else(|| self.operator(&slot));
        self.items.insert(slot, ActivityEntry { doing, operator, since_us, until_us });
    }

    fn end_step(&mut self, step: &StepId) {
        self.items.retain(|slot, _| slot.step() != *step || slot.is_compensation());
    }

    /// Updates the state from an event.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.apply_to_job(event);
        self.apply_to_activities(event);
    }

    /// Updates what is known about the whole job: its plan, its worker, and its finished steps.
    fn apply_to_job(&mut self, event: &Event) {
        let at_us = event.time_us;
        match &event.body {
            Body::PlanCreated { plan, .. } => {
                self.steps = planned(plan);
                self.unclaimed_us = Some(at_us);
            }
            Body::JobClaimed { .. } => {
                self.attempt = event.attempt;
                self.unclaimed_us = None;
                self.clear_running();
            }
            Body::JobReopened { steps, .. } => {
                self.finished_steps.retain(|step| !steps.contains(step));
                self.unclaimed_us = Some(at_us);
            }
            Body::JobReleased { .. } => {
                self.unclaimed_us = Some(at_us);
                self.clear_running();
            }
            Body::JobParked { .. } | Body::JobWaiting { .. } => self.clear_running(),
            Body::JobCompleted {}
            | Body::JobPartial {}
            | Body::JobFailed { .. }
            | Body::JobCancelled {}
            | Body::JobDiverged { .. } => {
                self.unclaimed_us = None;
                self.items.clear();
            }
            _ => {}
        }
    }

    /// Updates the current activities of steps and calls.
    fn apply_to_activities(&mut self, event: &Event) {
        let at_us = event.time_us;
        match &event.body {
            Body::StepStarted { step_id } => {
                self.started.insert(step_id.clone(), at_us);
                self.start_activity(Slot::of_step(step_id), Activity::Running, None, at_us, None);
            }
            Body::StepSucceeded { step_id, .. }
            | Body::StepFailed { step_id, .. }
            | Body::StepSkipped { step_id, .. }
            | Body::StepCancelled { step_id } => {
                self.end_step(step_id);
                self.finished_steps.insert(step_id.clone());
            }
            Body::StepAborted { step_id, .. } | Body::StepUnblocked { step_id } | Body::WaitTimedOut { step_id } => {
                self.end_step(step_id);
            }
            Body::WaitCompleted { step_id, .. } => self.end_step(step_id),
            Body::StepBlocked { step_id, slot, reason, holder } => {
                self.items.retain(|slot, item| *slot != Slot::of_step(step_id) || item.doing != Activity::Running);
                if !self.items.get(slot).is_some_and(|item| item.doing == Activity::Gate) {
                    let holder = holder.as_ref().map(|holder| format!("{} at {}", holder.job_id, holder.slot));
                    self.start_activity(slot.clone(), Activity::Blocked(*reason, holder), None, at_us, None);
                }
            }
            Body::StepRetryScheduled { slot, code, not_before_us, .. } => {
                self.start_activity(slot.clone(), Activity::Retry(*code), None, at_us, Some(*not_before_us));
            }
            // Ignores the start event of a call that is already shown as in flight. The start event of a call that only
            // reads comes late: it is recorded together with the end of the call.
            Body::ToolInvocationStarted { slot, .. } if self.is_called(slot) => {}
            Body::ToolInvocationStarted { slot, operator, .. } => {
                self.start_activity(slot.clone(), Activity::CallInFlight, Some(operator.to_string()), at_us, None);
            }
            Body::ToolInvocationFinished { slot, .. } => match slot.is_step() && !slot.is_compensation() {
                true => self.start_activity(slot.clone(), Activity::Running, None, at_us, None),
                false => drop(self.items.remove(slot)),
            },
            Body::CompensationStarted { slot, operator, .. } => {
                self.start_activity(slot.clone(), Activity::Compensating, Some(operator.to_string()), at_us, None);
            }
            Body::CompensationFinished { slot }
            | Body::CompensationFailed { slot, .. }
            | Body::CompensationLeft { slot, .. }
            | Body::GateRejected { slot, .. }
            | Body::GateExpired { slot, .. }
            | Body::ActionReused { slot, .. } => drop(self.items.remove(slot)),
            Body::GateRequested { slot, operator, expires_us, .. } => {
                self.start_activity(slot.clone(), Activity::Gate, Some(operator.to_string()), at_us, *expires_us);
            }
            Body::WaitStarted { step_id, correlation_key, until_us, .. } => {
                let doing = correlation_key.clone().map_or(Activity::Timer, Activity::Signal);
                self.start_activity(Slot::of_step(step_id), doing, None, at_us, *until_us);
            }
            _ => {}
        }
    }

    /// Removes all running activities. Waiting activities stay.
    fn clear_running(&mut self) {
        self.items.retain(|_, item| {
            !matches!(item.doing, Activity::Running | Activity::CallInFlight | Activity::Compensating)
        });
    }

    /// Returns the line of the job and one line for each current activity, at most `rows` lines.
    pub(crate) fn activity_lines(&self, now_us: i64, rows: usize) -> Vec<Text> {
        let attempt = if self.attempt > 1 { format!(", attempt {}", self.attempt) } else { String::new() };
        let (over, all) = (self.finished_steps.len(), self.steps.len());
        let mut lines = match self.unclaimed_us {
            // A job that this command executes does not wait for another worker.
            Some(unclaimed_us) if self.own_us.is_none() => {
                let waits = format!("  waits for a worker {}", elapsed_time(now_us - unclaimed_us));
                vec![Tone::Title.of(format!("{over} of {all} steps done")), Tone::Attention.of(waits)]
            }
            _ => {
                let time = elapsed_time(now_us - self.claimed_us.unwrap_or(self.began_us));
                vec![Tone::Title.of(format!("{over} of {all} steps done, {time}{attempt}"))]
            }
        };
        let place = |slot: &Slot| self.steps.iter().position(|(step, _)| *step == slot.step());
        let mut items: Vec<_> = self.items.iter().collect();
        items.sort_by_key(|(slot, _)| place(slot));
        lines.truncate(rows);
        let room = rows - lines.len();
        let displayed = if items.len() > room { room.saturating_sub(1) } else { items.len() };
        lines.extend(items[..displayed].iter().map(|(slot, item)| item.line(slot, now_us)));
        if displayed < items.len() && room > 0 {
            lines.push(Tone::Quiet.of(format!("  and {} more", items.len() - displayed)));
        }
        lines
    }
}

/// Returns the steps and operators of a normalized plan.
fn planned(plan: &Value) -> Vec<(StepId, String)> {
    let text = |step: &Value, key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let steps = plan["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    steps.iter().map(|step| (StepId::new(text(step, "step_id")), text(step, "name"))).collect()
}
