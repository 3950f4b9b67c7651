//! Submits a plan or a request, then executes the job or leaves it to a worker.

use serde_json::json;

use latchwork::config::DEFAULT_TENANT;
use latchwork::host::{EnqueueResult, Host, SubmitResult};
use latchwork::submit::{Submission, fresh_request_id, intent_payload};
use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::error::Code;
use latchwork_core::model::error_docs;
use latchwork_core::model::mode::Mode;
use latchwork_core::storage::JobRow;
use latchwork_engine::os;

use crate::args::RunArgs;
use crate::context::CommandContext;
use crate::display::gates::{FORBIDS_SELF_APPROVAL, REQUIRES_REASON, REQUIRES_SIGNATURE};
use crate::display::{changed, view};
use crate::error::{CliError, Exit};
use crate::execution::attach::{attach, execute};
use crate::execution::gates::open_gate_lines;
use crate::execution::messages::detached_message;
use crate::execution::settle::until_settled;
use crate::files::parameters;
use crate::files::source::InputSource;
use crate::plugins::admission;
use crate::text::Text;

/// Submits a plan or request and executes the job.
pub(crate) async fn on_host(
    host: &Host,
    source: &InputSource,
    args: &RunArgs,
    ctx: &CommandContext<'_>,
) -> anyhow::Result<Exit> {
    let actor = ctx.actor(args.actor.as_deref());
    let submission = submission(ctx, host, source, args, &actor)?;
    admission::warn_refused_plugins(ctx, host.registry());
    if args.detach {
        return detach(ctx, host, args, submission).await;
    }
    let (attached, response) = match host.submit(submission).await {
        Ok(SubmitResult::New(claim)) => {
            warn_of_approvals(ctx, host, args, &claim.row.tenant_id);
            (false, execute(ctx, host, claim).await?)
        }
        Ok(SubmitResult::Attached(row)) => {
            let when = humantime::format_rfc3339_seconds(os::clock::system_time(row.created_us));
            // Loads the job, so that the log lines below can contain the trace id of the job.
            host.load(&row.job_id).await?;
            ctx.printer
                .note_of(&row.job_id, format!("attached to {} of {when}; `--new` starts another job", row.job_id));
            warn_of_ignored_flags(ctx, args, &row);
            (true, attach(ctx, host, &row.job_id).await?)
        }
        Err(error) => return Err(error.into()),
    };
    let mut response = until_settled(ctx, host, response, &actor).await?;
    if attached {
        let durable = host.load(&response.job_id).await?;
        response = changed::with_changes(
            host.config(),
            &durable,
            response,
            source.folder.is_some().then_some(args.plan.as_path()),
        );
    }
    let gates = open_gate_lines(ctx, host, &response, true).await?;
    Ok(view::answer(ctx, &response, &gates))
}

/// Submits a job without executing it. A worker executes the job later.
pub(crate) async fn detach(
    ctx: &CommandContext<'_>,
    host: &Host,
    args: &RunArgs,
    submission: Submission,
) -> anyhow::Result<Exit> {
    let (row, is_new) = match host.enqueue(submission).await? {
        EnqueueResult::New(row) => (row, true),
        EnqueueResult::Attached(row) => (row, false),
    };
    match is_new {
        true => warn_of_approvals(ctx, host, args, &row.tenant_id),
        false => warn_of_ignored_flags(ctx, args, &row),
    }
    let restored = ctx.session().is_restored().await?;
    let next = match restored {
        true => ctx.with_project_flags("latch doctor --accept-restore"),
        false => ctx.with_project_flags(&format!("latch job show {}", row.job_id)),
    };
    let mut document = json!({
        "job_id": row.job_id, "state": row.state.as_str(), "new": is_new, "next_actions": [next],
    });
    if restored {
        document["reason_code"] = json!(Code::Restored);
        ctx.printer.warn("the database was restored or cloned: no worker claims the job before that is accepted");
    }
    ctx.answer(&document, || match is_new {
        true => detached_message(ctx, &row.job_id, &next),
        false => Text::from(format!("attached to {}, which is {}; next:", row.job_id, row.state.as_str()))
            .with_command(&next),
    });
    Ok(Exit::Done)
}

/// Warns that `--approve` and `--priority` have no effect on an existing job. A job gets both only when it is created.
fn warn_of_ignored_flags(ctx: &CommandContext<'_>, args: &RunArgs, row: &JobRow) {
    let job_id = &row.job_id;
    if !args.approve.is_empty() {
        let what = match row.state.is_terminal() {
            true => "it is over".to_owned(),
            false => {
                format!("`{}` shows what it waits for", ctx.with_project_flags(&format!("latch job show {job_id}")))
            }
        };
        let steps = args.approve.join(", ");
        ctx.printer.warn(format!("--approve {steps} applies to new jobs only and has no effect on {job_id}: {what}"));
    }
    if let Some(priority) = args.priority.filter(|priority| *priority != row.priority) {
        let kept = row.priority;
        ctx.printer
            .warn(format!("--priority {priority} applies to new jobs only: the priority of {job_id} stays {kept}"));
    }
}

/// Warns if the policy of the tenant ignores approvals given in advance.
fn warn_of_approvals(ctx: &CommandContext<'_>, host: &Host, args: &RunArgs, tenant: &str) {
    let Some(policy) = host.policy(tenant).filter(|_| !args.approve.is_empty()) else { return };
    let why = match policy {
        policy if !policy.standing_approvals => "does not allow approval before the call exists",
        policy if policy.gate_reason => REQUIRES_REASON,
        policy if !policy.gate_approvals.is_claimed() => REQUIRES_SIGNATURE,
        policy if !policy.self_approve => FORBIDS_SELF_APPROVAL,
        _ => return,
    };
    ctx.printer.warn(format!("--approve has no effect under the policy of {tenant}: it {why}"));
}

pub(crate) fn submission(
    ctx: &CommandContext<'_>,
    host: &Host,
    source: &InputSource,
    args: &RunArgs,
    actor: &str,
) -> anyhow::Result<Submission> {
    let request = admission::require_served(host.registry(), &source.name, host.check_request(&source.text))?;
    let values = parameters::values(ctx, &request, &**host.registry(), source, &args.parameters)?;
    let plan = request.plan;
    let payload = request.intent.as_ref().map(|intent| &intent.payload);
    let intent_payload = intent_payload(&plan, payload, values.as_ref());
    let (intent_type, contexts) = match request.intent {
        Some(intent) => (intent.intent_type, intent.contexts),
        None => ("plan".to_owned(), vec![]),
    };
    for step in &args.approve {
        if plan.step(step).is_none() {
            let meant = did_you_mean(step.as_str(), plan.steps.iter().map(|step| step.step_id.as_str()));
            let message = format!("--approve {step}: the plan has no such step{meant}");
            return Err(CliError::input(error_docs::USAGE, message).into());
        }
    }
    let mode = args.mode.map(Mode::from).or(request.mode).unwrap_or_default();
    let tenant = args.tenant.clone().unwrap_or_else(|| DEFAULT_TENANT.to_owned());
    let policy_hash = host.policy(&tenant).map(|policy| policy.hash).unwrap_or_default();
    let mut submission = Submission::of_plan(plan, actor);
    submission.intent_type = intent_type;
    submission.intent_payload = intent_payload;
    submission.contexts = contexts;
    submission.parameters = values;
    submission.mode = mode;
    submission.request_id = if args.new { Some(fresh_request_id(ctx.session().machine())) } else { request.request_id };
    submission.standing_approvals = args.approve.clone();
    submission.policy_hash = policy_hash;
    submission.tenant = tenant;
    submission.priority = args.priority.or(request.priority).unwrap_or_default();
    Ok(submission)
}
