//! Converts steps of real jobs into cases. The cases run under other hosts with the recorded answers.

use latchwork_core::model::effect::Answer as Effected;
use latchwork_core::model::ids::Operator;
use latchwork_core::model::keys;
use latchwork_core::state::{Durable, Step};
use latchwork_engine::guest::sources::StepContext;

use crate::check::dynamic::{CaseAnswer, RecordedEnvironment, StepCase};
use crate::check::finding::SourceLocation;
use crate::check::history::verified::VerifiedHistory;

/// Returns the case of a step, or `None` for a step that a fork copied from another job.
pub(super) fn case_of_step(
    read: &VerifiedHistory<'_>,
    durable: &Durable,
    step: &Step,
    operator: &Operator,
) -> Option<StepCase> {
    let job = &durable.job;
    let (started_us, pinned) = (step.started_us?, job.pinned(operator)?);
    let input = String::from_utf8(durable.input(&step.id)?.to_vec()).ok()?;
    if step.copied.is_some() {
        return None;
    }
    let (mut answers, mut heard_us) = (Vec::new(), Vec::new());
    for (n, (k, slot, call)) in job.calls_of(&step.id).enumerate() {
        let (true, Some(finished), Some(effect)) = (call.committed, call.finished.as_ref(), durable.answer(slot))
        else {
            break;
        };
        if k as usize != n {
            break;
        }
        let answer = match &effect.answer {
            Effected::Ok(output) => Ok(output.result.clone()),
            Effected::NotApplied(failure) | Effected::Unknown { failure, .. } => Err(failure.clone()),
        };
        answers.push(CaseAnswer { operator: None, args: None, determinism: None, effects: None, answer });
        heard_us.push(finished.time_us);
    }
    let header = &job.header;
    let context = StepContext {
        tenant: header.tenant_id.clone(),
        actor: header.actor_id.clone(),
        correlation_id: header.correlation_id.clone(),
        job_id: header.job_id.to_string(),
        plan_id: job.plan.plan_id.clone(),
        step_id: step.id.to_string(),
    };
    Some(StepCase {
        name: format!("{}/{}", header.job_id, step.id),
        operator: operator.to_string(),
        input,
        answers,
        error: None,
        place: SourceLocation { file: read.file.to_owned(), line: Some(read.verified.evidence.line_of_step(&step.id)) },
        recorded: Some(RecordedEnvironment {
            context,
            seed: keys::step_seed(&header.job_seed, &step.id),
            started_us,
            answered_us: heard_us,
            limits: pinned.limits,
        }),
    })
}
