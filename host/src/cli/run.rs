//! `latch run`: submit a plan and execute it on the spot.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use latchwork_core::canon;
use latchwork_core::error::Code;
use latchwork_core::event::Mode;
use latchwork_core::ids::JobId;
use latchwork_core::job::JobState;
use latchwork_core::pages;
use latchwork_core::response::{BlockedView, Response, response};
use latchwork_core::storage::{Claim, JobRow};
use latchwork_core::wait::SHORT_WAIT_MS;
use serde_json::json;

use super::args::RunArgs;
use super::context::Context;
use super::error::{CliError, Exit};
use super::live::{Live, show};
use super::{gates, open, plan, plugin, view};
use crate::config::DEFAULT_TENANT;
use crate::host::{Accepted, Enqueued, Host};
use crate::os;
use crate::submit::{Submission, bare_intent, fresh_request_id};
use crate::worker::WorkerError;

/// Between two looks at a job that another process executes.
pub(super) const FOLLOW_MS: u64 = 200;

pub(super) async fn run(args: RunArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let text = read(&args.plan)?;
    let config = ctx.config(args.plan.parent())?;
    if args.build {
        plugin::build_configured(ctx, &config).await?;
    }
    let host = open::host(config).await?;
    let actor = ctx.actor(args.actor.as_deref());
    let submission = submission(&host, &text, &args, &actor)?;
    if args.detach {
        return detach(ctx, &host, &args, submission).await;
    }
    let response = match host.submit(submission).await {
        Ok(Accepted::New(claim)) => {
            warn_of_approvals(ctx, &host, &args, &claim.row.tenant_id);
            drive(ctx, &host, claim).await?
        }
        Ok(Accepted::Attached(row)) => {
            let when = humantime::format_rfc3339_seconds(os::clock::system_time(row.created_us));
            ctx.printer.note(format!("attached to {} of {when}; `--new` starts another job", row.job_id));
            asked_too_late(ctx, &args, &row);
            attach(ctx, &host, &row.job_id).await?
        }
        Err(error) => return Err(error.into()),
    };
    let response = until_settled(ctx, &host, response, &actor).await?;
    Ok(view::answer(ctx, &response))
}

/// Accepts a job and leaves it to whoever claims it.
async fn detach(ctx: &Context<'_>, host: &Host, args: &RunArgs, submission: Submission) -> anyhow::Result<Exit> {
    let (row, is_new) = match host.enqueue(submission).await? {
        Enqueued::New(row) => (row, true),
        Enqueued::Attached(row) => (row, false),
    };
    match is_new {
        true => warn_of_approvals(ctx, host, args, &row.tenant_id),
        false => asked_too_late(ctx, args, &row),
    }
    let restored = open::is_restored().await?;
    let next = match restored {
        true => ctx.command("latch doctor --accept-restore"),
        false => ctx.command(&format!("latch job show {}", row.job_id)),
    };
    let mut document = json!({
        "job_id": row.job_id, "state": row.state.as_str(), "new": is_new, "next_actions": [next],
    });
    if restored {
        document["reason_code"] = json!(Code::Restored);
        ctx.printer.warn("the database was restored or cloned: no worker takes the job before that is accepted");
    }
    ctx.answer(&document, || match is_new {
        true => format!("{} waits for a worker (`{}`); next: {next}", row.job_id, ctx.command("latch worker")),
        false => format!("attached to {}, which is {}; next: {next}", row.job_id, row.state.as_str()),
    });
    Ok(Exit::Done)
}

/// Goes on with a job while gates are decided at the terminal or its own timers come.
pub(super) async fn until_settled(
    ctx: &Context<'_>,
    host: &Host,
    mut response: Response,
    actor: &str,
) -> anyhow::Result<Response> {
    loop {
        let goes_on = match response.state {
            JobState::Parked | JobState::Waiting if gates::ask(ctx, host, &response, actor).await? => true,
            JobState::Waiting => wait(&response).await,
            _ => false,
        };
        if !goes_on {
            return Ok(response);
        }
        response = attach(ctx, host, &response.job_id).await?;
    }
}

/// What is said of a job that was parked without being loaded.
pub(super) fn unread(ctx: &Context<'_>, job_id: &JobId, cause: &str) -> String {
    let next = ctx.command(&format!("latch job resolve {job_id} --continue"));
    let code = Code::AttemptsExhausted;
    format!("{job_id} is PARKED, {code}: {cause}; find out what ends the process, then: {next}")
}

/// Claims a job and drives it, or follows the process that does.
pub(super) async fn attach(ctx: &Context<'_>, host: &Host, job_id: &JobId) -> anyhow::Result<Response> {
    let mut told = false;
    // Times that came while nobody was there come now.
    host.journal.fire_timers().await?;
    loop {
        let row = host.journal.job(job_id).await?.with_context(|| format!("there is no job {job_id}"))?;
        // After the row: what it says of the job's end is in what is loaded now.
        let durable = host.load(job_id).await?;
        // Where it rests, somebody has to act before it goes on.
        if row.state.is_terminal() || matches!(row.state, JobState::Parked | JobState::Diverged) {
            return Ok(response(&durable));
        }
        if let Some(claim) = host.journal.claim_job(job_id, &host.worker.claimer()).await? {
            match drive_claimed(ctx, host, claim).await {
                Err(WorkerError::Lost(_)) => continue,
                driven => return Ok(driven?),
            }
        }
        if row.state == JobState::Waiting {
            return Ok(response(&durable));
        }
        if !told {
            ctx.printer.note(format!("another process executes {job_id}; following it"));
            told = true;
        }
        tokio::time::sleep(Duration::from_millis(FOLLOW_MS)).await;
    }
}

/// Drives a claimed job, showing what happens; if another process takes it over, follows that one.
pub(super) async fn drive(ctx: &Context<'_>, host: &Host, claim: Claim) -> anyhow::Result<Response> {
    match drive_claimed(ctx, host, claim).await {
        Err(WorkerError::Lost(job_id)) => attach(ctx, host, &job_id).await,
        driven => Ok(driven?),
    }
}

async fn drive_claimed(ctx: &Context<'_>, host: &Host, claim: Claim) -> Result<Response, WorkerError> {
    let (live, mut lines) = Live::new();
    let driven = host.drive(claim, Arc::new(live));
    tokio::pin!(driven);
    let result = loop {
        tokio::select! {
            result = &mut driven => break result,
            Some(line) = lines.recv() => show(ctx.printer, &line),
        }
    };
    while let Ok(line) = lines.try_recv() {
        show(ctx.printer, &line);
    }
    result
}

/// Sits out the next time at which the job goes on by itself; false where that is too far away, or
/// somebody else has to do something.
async fn wait(response: &Response) -> bool {
    let alone = |view: &&BlockedView| matches!(view.reason_code, Code::RetryScheduled | Code::WaitingTimer);
    let Some(until_us) = response.blocked.iter().filter(alone).filter_map(|view| view.until).min() else {
        return false;
    };
    let left_us = u64::try_from(until_us - os::clock::now_us()).unwrap_or(0);
    if left_us > u64::from(SHORT_WAIT_MS) * 1_000 {
        return false;
    }
    tokio::time::sleep(Duration::from_micros(left_us)).await;
    true
}

/// The text of a file, or an input error that names it.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        CliError::input(pages::INPUT_UNREADABLE, format!("{} cannot be read: {error}", path.display())).into()
    })
}

/// What was approved in advance, and the priority, are said when a job is made; one that is attached to has
/// its own.
fn asked_too_late(ctx: &Context<'_>, args: &RunArgs, row: &JobRow) {
    let job_id = &row.job_id;
    if !args.approve.is_empty() {
        let what = match row.state.is_terminal() {
            true => "it is over".to_owned(),
            false => format!("`{}` tells what it waits for", ctx.command(&format!("latch job show {job_id}"))),
        };
        let steps = args.approve.join(", ");
        ctx.printer.warn(format!("--approve {steps} is for new jobs and changes nothing for {job_id}: {what}"));
    }
    if let Some(priority) = args.priority.filter(|priority| *priority != row.priority) {
        let kept = row.priority;
        ctx.printer.warn(format!("--priority {priority} is for new jobs: that of {job_id} stays {kept}"));
    }
}

/// Says which approvals given beforehand count for nothing under the policy.
fn warn_of_approvals(ctx: &Context<'_>, host: &Host, args: &RunArgs, tenant: &str) {
    let Some(policy) = host.policy(tenant).filter(|_| !args.approve.is_empty()) else { return };
    let why = match policy {
        policy if !policy.standing_approvals => "it takes none before the call is there to be seen",
        policy if policy.gate_reason => "it wants a reason with each",
        policy if !policy.self_approve => "it lets nobody approve a call of their own job",
        _ => return,
    };
    ctx.printer.warn(format!("--approve counts for nothing under the policy of {tenant}: {why}"));
}

fn submission(host: &Host, text: &[u8], args: &RunArgs, actor: &str) -> anyhow::Result<Submission> {
    let request = host.check_request(text).map_err(|violations| plan::refused(&args.plan, &violations))?;
    let plan = request.plan;
    let (intent_type, intent_payload, contexts) = match request.intent {
        Some(intent) => (intent.intent_type, canon::value_to_canonical(&intent.payload), intent.contexts),
        None => ("plan".to_owned(), bare_intent(&plan), vec![]),
    };
    for step in &args.approve {
        if plan.step(step).is_none() {
            return Err(CliError::input(pages::USAGE, format!("--approve {step}: the plan has no such step")).into());
        }
    }
    let mode = args.mode.map(Mode::from).or(request.mode).unwrap_or_default();
    let tenant = args.tenant.clone().unwrap_or_else(|| DEFAULT_TENANT.to_owned());
    let policy_hash = host.policy(&tenant).map(|policy| policy.hash).unwrap_or_default();
    Ok(Submission {
        actor: actor.to_owned(),
        intent_type,
        intent_payload,
        contexts,
        plan,
        mode,
        request_id: if args.new { Some(fresh_request_id()) } else { request.request_id },
        standing_approvals: args.approve.clone(),
        policy_hash,
        tenant,
        priority: args.priority.or(request.priority).unwrap_or_default(),
    })
}
