//! `latch run`: submits a plan and executes the job in this process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::error::Code;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_core::model::job::JobState;
use latchwork_core::model::mode::Mode;
use latchwork_core::model::step::StepState;
use latchwork_core::plan::wait::SHORT_WAIT_MS;
use latchwork_core::response::{BlockedView, Response, StepView, response};
use latchwork_core::storage::{Claim, JobRow};

use super::args::RunArgs;
use super::context::Context;
use super::error::{CliError, Exit};
use super::live::{LiveObserver, Screen};
use super::output::Text;
use super::source::Source;
use super::{admission, changed, gates, interrupt, open, parameters, plugin, view};
use crate::cli::followed_job::{FollowedJob, recorded_events};
use crate::config::{CommitMode, Config, DEFAULT_TENANT};
use crate::host::{EnqueueResult, Host, SubmitResult};
use crate::os;
use crate::runtime::WorkerError;
use crate::submit::{Submission, fresh_request_id, intent_payload};

pub(super) async fn run(args: RunArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    parameters::refuse_second_stdin(&args.plan, &args.parameters)?;
    let source = Source::read(&args.plan, ctx)?;
    let mut config = ctx.config(source.folder.as_deref())?;
    if let Some(folder) = &args.scratch {
        use_scratch_folder(&mut config, folder);
    }
    if args.build {
        plugin::build_configured(ctx, &config).await?;
    }
    let survey = admission::precheck(&config, &source.name, &source.text)?;
    let host = open::surveyed_host(config, survey).await?;
    on_host(&host, &source, &args, ctx).await
}

/// Redirects the database, its auxiliary files and the state directory to a scratch folder, and disables
/// notices. Such a run leaves nothing outside the folder.
fn use_scratch_folder(config: &mut Config, folder: &Path) {
    config.database = format!("sqlite://{}", folder.join("latch.db").display());
    config.effect_store = None;
    config.commit = CommitMode::default();
    config.notify = None;
    config.state_dir = folder.join("state");
}

/// Submits a plan or request and executes the job.
pub(super) async fn on_host(host: &Host, source: &Source, args: &RunArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let actor = ctx.actor(args.actor.as_deref());
    let submission = submission(ctx, host, source, args, &actor)?;
    admission::warn_refused_plugins(ctx, &host.registry);
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
            // Loads the job. The log lines below can then contain the trace id of the job.
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
            &host.config,
            &durable,
            response,
            source.folder.is_some().then_some(args.plan.as_path()),
        );
    }
    let gates = gates::open_gate_lines(ctx, host, &response, true).await?;
    Ok(view::answer(ctx, &response, &gates))
}

/// Submits a job without executing it. A worker executes the job later.
async fn detach(ctx: &Context<'_>, host: &Host, args: &RunArgs, submission: Submission) -> anyhow::Result<Exit> {
    let (row, is_new) = match host.enqueue(submission).await? {
        EnqueueResult::New(row) => (row, true),
        EnqueueResult::Attached(row) => (row, false),
    };
    match is_new {
        true => warn_of_approvals(ctx, host, args, &row.tenant_id),
        false => warn_of_ignored_flags(ctx, args, &row),
    }
    let restored = open::is_restored().await?;
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

/// Shows a job that ran here and returns the exit status. If `were_asked` is true, this terminal has just shown the
/// gates, and the gates are not shown again.
pub(super) async fn show_result(
    ctx: &Context<'_>,
    host: &Host,
    response: Response,
    were_asked: bool,
) -> anyhow::Result<Exit> {
    let durable = host.load(&response.job_id).await?;
    let response = changed::with_changes(&host.config, &durable, response, None);
    let gates = gates::open_gate_lines(ctx, host, &response, were_asked).await?;
    Ok(view::answer(ctx, &response, &gates))
}

/// Returns the message about a job that was left to a worker.
pub(super) fn detached_message(ctx: &Context<'_>, job_id: &JobId, next: &str) -> Text {
    Text::from(format!("{job_id} waits for a worker (`{}`); next:", ctx.with_project_flags("latch worker")))
        .with_command(next)
}

/// Continues a job as long as its gates are decided on this terminal or its timers expire soon.
pub(super) async fn until_settled(
    ctx: &Context<'_>,
    host: &Host,
    mut response: Response,
    actor: &str,
) -> anyhow::Result<Response> {
    loop {
        let goes_on = match response.state {
            _ if interrupt::is_pressed() => false,
            JobState::Parked | JobState::Waiting if gates::ask_about_gates(ctx, host, &response, actor).await? => true,
            JobState::Waiting => wait_for_timer(ctx, host, &response).await?,
            _ => false,
        };
        if !goes_on {
            return Ok(response);
        }
        response = attach(ctx, host, &response.job_id).await?;
    }
}

/// Returns the message about a job that was parked because it could not be loaded.
pub(super) fn parked_unloaded_message(ctx: &Context<'_>, job_id: &JobId, cause: &str) -> Text {
    let next = ctx.with_project_flags(&format!("latch job resolve {job_id} --continue"));
    let code = Code::AttemptsExhausted;
    Text::from(format!(
        "{job_id} is PARKED, {code}: {cause}; find out why the process dies (check the OOM killer), then run:"
    ))
    .with_command(next)
}

/// Claims a job and executes it, or follows the process that executes it.
pub(super) async fn attach(ctx: &Context<'_>, host: &Host, job_id: &JobId) -> anyhow::Result<Response> {
    let mut follow: Option<FollowedJob<'_>> = None;
    // Timers that expired while no process was running fire now.
    host.journal.fire_timers().await?;
    loop {
        let row = host.journal.job(job_id).await?.with_context(|| format!("there is no job {job_id}"))?;
        // The row of the job was read before the job is loaded. If the row shows the end of the job, the loaded
        // job therefore contains the final events.
        let durable = host.load(job_id).await?;
        // A job that is finished, parked or diverged does not continue until a person acts.
        if row.state.is_terminal() || matches!(row.state, JobState::Parked | JobState::Diverged) {
            return Ok(response(&durable));
        }
        if let Some(claim) = host.journal.claim_job(job_id, &host.worker.lease_request()).await? {
            // Closes the screen of the followed job. Otherwise the job would be drawn twice.
            follow = None;
            match execute_claimed(ctx, host, claim).await {
                Err(error) if is_lease_lost_error(&error) => continue,
                driven => return driven,
            }
        }
        if row.state == JobState::Waiting {
            return Ok(response(&durable));
        }
        let follow = match &mut follow {
            Some(follow) => follow,
            None => {
                ctx.printer.note_of(job_id, format!("another process executes {job_id}; following it"));
                follow.insert(FollowedJob::new(ctx, host, job_id).await?)
            }
        };
        if follow.poll(&*host.journal).await? {
            let again = ctx.with_project_flags(&format!("latch job events {job_id} --follow"));
            let goes_on = Text::from(format!("{job_id} continues in another process; follow it again:"));
            ctx.printer.note_of(job_id, goes_on.with_command(again));
            return Ok(response(&durable));
        }
    }
}

/// Returns true if the error means that another worker holds the job.
fn is_lease_lost_error(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(WorkerError::LeaseLost(_)))
}

/// Executes a claimed job and shows its progress. If another process takes the job over, follows that
/// process.
pub(super) async fn execute(ctx: &Context<'_>, host: &Host, claim: Claim) -> anyhow::Result<Response> {
    let job_id = claim.row.job_id.clone();
    match execute_claimed(ctx, host, claim).await {
        Err(error) if is_lease_lost_error(&error) => attach(ctx, host, &job_id).await,
        driven => driven,
    }
}

async fn execute_claimed(ctx: &Context<'_>, host: &Host, claim: Claim) -> anyhow::Result<Response> {
    let job_id = claim.row.job_id.clone();
    // A read error is ignored here. The attempt that holds the claim reports such an error.
    let past = recorded_events(&*host.journal, &job_id).await.unwrap_or_default();
    let mut screen = Screen::for_own_job(ctx.printer, &job_id, &past);
    let (live, mut seen) = LiveObserver::new();
    let driven = host.drive(claim, Arc::new(live));
    tokio::pin!(driven);
    let mut stops = false;
    let result = loop {
        tokio::select! {
            result = &mut driven => break result,
            Some(seen) = seen.recv() => screen.show(&seen),
            () = screen.tick() => screen.draw(),
            () = interrupt::pressed_times(1), if !stops => {
                stops = true;
                host.worker.stop();
                ctx.printer.note_of(&job_id, "stopping: calls in flight end first; press ctrl-c again to stop immediately");
            }
            () = interrupt::pressed_times(2) => {
                ctx.request_immediate_exit();
                drop(screen);
                return Err(cut_off_error(ctx, &job_id).into());
            }
        }
    };
    while let Ok(seen) = seen.try_recv() {
        screen.show(&seen);
    }
    drop(screen);
    match result {
        Err(WorkerError::Released(_)) if stops => show_stopped(ctx, host, &job_id).await,
        result => Ok(result?),
    }
}

/// Shows the state of a job that ctrl-c has stopped, and the command that continues it.
async fn show_stopped(ctx: &Context<'_>, host: &Host, job_id: &JobId) -> anyhow::Result<Response> {
    let response = response(&host.load(job_id).await?);
    let open = |step: &&StepView| !matches!(step.state, StepState::Succeeded | StepState::Skipped);
    let at = response.steps.iter().find(open).map(|step| format!(" at {}", step.step_id)).unwrap_or_default();
    let next = ctx.with_project_flags(&format!("latch resume {job_id}"));
    let state = response.state.as_str();
    let stands = Text::from(format!("{job_id} is {state}{at}; continue:"));
    ctx.printer.note_of(job_id, stands.with_command(next));
    Ok(response)
}

/// Returns the error of a command that a second ctrl-c ended.
fn cut_off_error(ctx: &Context<'_>, job_id: &JobId) -> CliError {
    let next = ctx.with_project_flags(&format!("latch resume {job_id}"));
    let message = format!(
        "stopped immediately while executing {job_id}: a call in flight is in doubt until the job continues; continue:"
    );
    CliError::action_required(error_docs::WORKER_INTERRUPTED, message).with_next_command(next).for_job(job_id)
}

/// Waits for the next timer after which the job continues without a person. Returns false if there is no such timer, if
/// the timer expires too far in the future, or after ctrl-c.
async fn wait_for_timer(ctx: &Context<'_>, host: &Host, response: &Response) -> anyhow::Result<bool> {
    let alone = |view: &&BlockedView| matches!(view.reason_code, Code::RetryScheduled | Code::WaitingTimer);
    let Some(until_us) = response.blocked.iter().filter(alone).filter_map(|view| view.until).min() else {
        return Ok(false);
    };
    let left_us = u64::try_from(until_us - os::clock::now_us()).unwrap_or(0);
    if left_us > u64::from(SHORT_WAIT_MS) * 1_000 {
        return Ok(false);
    }
    let job_id = &response.job_id;
    let mut screen = Screen::for_own_job(ctx.printer, job_id, &recorded_events(&*host.journal, job_id).await?);
    let over = tokio::time::sleep(Duration::from_micros(left_us));
    tokio::pin!(over);
    loop {
        tokio::select! {
            () = &mut over => return Ok(true),
            () = screen.tick() => screen.draw(),
            () = interrupt::pressed_times(1) => {
                drop(screen);
                show_stopped(ctx, host, job_id).await?;
                return Ok(false);
            }
        }
    }
}

/// Reads a file. The error names the file.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        CliError::input(error_docs::INPUT_UNREADABLE, format!("{} cannot be read: {error}", path.display())).into()
    })
}

/// Warns that `--approve` and `--priority` have no effect on an existing job. Both are set when a job is
/// created.
fn warn_of_ignored_flags(ctx: &Context<'_>, args: &RunArgs, row: &JobRow) {
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
fn warn_of_approvals(ctx: &Context<'_>, host: &Host, args: &RunArgs, tenant: &str) {
    let Some(policy) = host.policy(tenant).filter(|_| !args.approve.is_empty()) else { return };
    let why = match policy {
        policy if !policy.standing_approvals => "it does not allow approval before the call exists",
        policy if policy.gate_reason => "it requires a reason for each approval",
        policy if !policy.self_approve => "it does not allow approving calls of one's own job",
        _ => return,
    };
    ctx.printer.warn(format!("--approve has no effect under the policy of {tenant}: {why}"));
}

fn submission(
    ctx: &Context<'_>,
    host: &Host,
    source: &Source,
    args: &RunArgs,
    actor: &str,
) -> anyhow::Result<Submission> {
    let request = admission::require_served(&host.registry, &source.name, host.check_request(&source.text))?;
    let values = parameters::values(ctx, &request, &*host.registry, source, &args.parameters)?;
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
    Ok(Submission {
        actor: actor.to_owned(),
        intent_type,
        intent_payload,
        contexts,
        plan,
        parameters: values,
        mode,
        request_id: if args.new { Some(fresh_request_id()) } else { request.request_id },
        standing_approvals: args.approve.clone(),
        policy_hash,
        tenant,
        priority: args.priority.or(request.priority).unwrap_or_default(),
    })
}
