//! Checks that the end of the job, its outcomes and its response follow from its events.

use serde_json::Value;

use crate::decide;
use crate::event::Body;
use crate::evidence::read::Evidence;
use crate::evidence::report::{ProblemKind, VerifyReport};
use crate::evidence::write;
use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::model::manifest::PluginKind;
use crate::model::mode::Mode;
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::state::{Durable, Job, Step};

pub(super) fn check(evidence: &Evidence, durable: &Durable, report: &mut VerifyReport) {
    let job = &durable.job;
    for (at, event) in &evidence.events {
        match &event.body {
            Body::OutcomeRecorded { step_id, outcome_id, .. } => {
                let expected = decide::outcome_id(&job.header.job_id, step_id);
                if *outcome_id != expected {
                    let message = format!("the outcome of {step_id} has a wrong ID");
                    report.add_problem(*at, ProblemKind::Response, message, expected, outcome_id);
                }
                if job.step(step_id).is_none_or(|step| step.state != StepState::Succeeded) {
                    let message = format!("an outcome of {step_id}, which did not succeed");
                    report.add_problem(*at, ProblemKind::Response, message, "a step that succeeded", "an outcome");
                }
            }
            Body::StepSucceeded { step_id, result_type } => {
                if let Some(step) = job.step(step_id) {
                    check_success(*at, step, *result_type, job, report);
                }
            }
            _ => {}
        }
    }
    check_end(evidence, job, report);
    if let Some((at, recorded)) = &evidence.response {
        let expected = write::bare_response(durable);
        if let Some((place, expected, found)) = difference("", &expected, recorded) {
            let message = format!("{place} of the response does not follow from the events");
            report.add_problem(*at, ProblemKind::Response, message, expected, found);
        }
    }
}

fn check_success(at: u64, step: &Step, result_type: ResultType, job: &Job, report: &mut VerifyReport) {
    let id = &step.id;
    let mut wrong = |message: String, expected: &str, found: String| {
        report.add_problem(at, ProblemKind::Illegal, message, expected, found);
    };
    if step.output.is_none() {
        wrong(format!("{id} succeeded without an output"), "state_checkpointed", "none".to_owned());
    }
    for (slot, _) in
        job.calls.iter().filter(|(slot, call)| slot.step() == *id && !slot.is_compensation() && !call.committed)
    {
        wrong(format!("{id} succeeded before {slot} had its final answer"), "command_committed", "none".to_owned());
    }
    let kind = job.plan.step(id).and_then(|planned| job.pinned(&planned.name)).map(|pinned| pinned.kind);
    let answer = job.calls.get(&Slot::of_step(id)).and_then(|call| call.finished.as_ref());
    if kind == Some(PluginKind::Tool) && answer.is_some_and(|finished| !finished.ok) {
        wrong(format!("{id} succeeded although its call failed"), "a good answer", "a failure".to_owned());
    }
    let expected = job.result_type(id, true);
    let ordinary = [ResultType::Pure, ResultType::Success, ResultType::SideEffectCommitted];
    // A reused or copied result keeps its type from the job that executed the step.
    let is_own = !step.reuse.as_ref().is_some_and(|(reused, _)| *reused) && step.copied.is_none();
    if is_own && ordinary.contains(&result_type) && result_type != expected {
        wrong(
            format!("the result type of {id} does not follow from its calls"),
            &format!("{expected:?}"),
            format!("{result_type:?}"),
        );
    }
}

/// Checks that the steps and requests of the job justify its final state. An incomplete job must not appear
/// complete.
fn check_end(evidence: &Evidence, job: &Job, report: &mut VerifyReport) {
    let count = |state| job.steps.iter().filter(|step| step.state == state).count();
    let good = count(StepState::Succeeded);
    let dry = if job.header.mode == Mode::DryRun { count(StepState::Skipped) } else { 0 };
    let wrong = match job.state {
        JobState::Completed if good + dry != job.steps.len() => Some("every step succeeded"),
        JobState::Partial if good == 0 => Some("some steps succeeded"),
        JobState::Cancelled if job.cancel.is_none() => Some("a cancel request"),
        _ => None,
    };
    if let Some(expected) = wrong {
        let ends = |body: &Body| matches!(body, Body::JobCompleted {} | Body::JobPartial {} | Body::JobCancelled {});
        let at = evidence.events.iter().rev().find(|(_, event)| ends(&event.body)).map_or(1, |(at, _)| *at);
        let message = format!("the job ended as {} without reason", job.state.as_str());
        report.add_problem(
            at,
            ProblemKind::Illegal,
            message,
            expected,
            format!("{good} of {} succeeded", job.steps.len()),
        );
    }
}

/// Returns the first difference of two JSON values: its path and the value on each side.
fn difference(place: &str, expected: &Value, found: &Value) -> Option<(String, String, String)> {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let null = Value::Null;
            keys.into_iter().find_map(|key| {
                let (a, b) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                difference(&format!("{place}/{key}"), a, b)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(n, (a, b))| difference(&format!("{place}/{n}"), a, b))
        }
        _ if expected == found => None,
        _ => Some((place.to_owned(), expected.to_string(), found.to_string())),
    }
}
