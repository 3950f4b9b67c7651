//! Claims and executes a job, or follows the process that executes it.

use std::sync::Arc;

use anyhow::Context as _;

use latchwork::host::Host;
use latchwork::runtime::WorkerError;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_core::model::job::JobState;
use latchwork_core::model::step::StepState;
use latchwork_core::response::{Response, StepView, response};
use latchwork_core::storage::Claim;

use crate::context::CommandContext;
use crate::error::CliError;
use crate::interrupt;
use crate::live::{FollowedJob, LiveObserver, Screen, recorded_events};
use crate::text::Text;

/// Claims a job and executes it, or follows the process that executes it.
pub(crate) async fn attach(ctx: &CommandContext<'_>, host: &Host, job_id: &JobId) -> anyhow::Result<Response> {
    let mut follow: Option<FollowedJob<'_>> = None;
    // Fires timers that expired while no process was running.
    host.journal().fire_timers().await?;
    loop {
        let row = host.journal().job(job_id).await?.with_context(|| format!("there is no job {job_id}"))?;
        // The row is read before the job is loaded. If the row shows that the job has ended, the loaded job therefore
        // contains the final events.
        let durable = host.load(job_id).await?;
        // A job that is finished, parked or diverged does not continue until a person acts.
        if row.state.is_terminal() || matches!(row.state, JobState::Parked | JobState::Diverged) {
            return Ok(response(&durable));
        }
        if let Some(claim) = host.journal().claim_job(job_id, &host.worker().lease_request()).await? {
            // Closes the screen of the followed job, so that the job is not drawn twice.
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
        if follow.poll(&**host.journal()).await? {
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
pub(crate) async fn execute(ctx: &CommandContext<'_>, host: &Host, claim: Claim) -> anyhow::Result<Response> {
    let job_id = claim.row.job_id.clone();
    match execute_claimed(ctx, host, claim).await {
        Err(error) if is_lease_lost_error(&error) => attach(ctx, host, &job_id).await,
        driven => driven,
    }
}

async fn execute_claimed(ctx: &CommandContext<'_>, host: &Host, claim: Claim) -> anyhow::Result<Response> {
    let job_id = claim.row.job_id.clone();
    // Ignores a read error, because the attempt that holds the claim reports the error.
    let past = recorded_events(&**host.journal(), &job_id).await.unwrap_or_default();
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
                host.worker().stop();
                ctx.printer.note_of(&job_id, "stopping: calls in flight end first; press ctrl-c again to stop immediately");
            }
            () = interrupt::pressed_times(2) => {
                ctx.request_immediate_exit();
                drop(screen);
                return Err(interrupted_error(ctx, &job_id).into());
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
pub(crate) async fn show_stopped(ctx: &CommandContext<'_>, host: &Host, job_id: &JobId) -> anyhow::Result<Response> {
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
fn interrupted_error(ctx: &CommandContext<'_>, job_id: &JobId) -> CliError {
    let next = ctx.with_project_flags(&format!("latch resume {job_id}"));
    let message = format!(
        "stopped immediately while executing {job_id}: a call in flight is in doubt until the job continues; continue:"
    );
    CliError::action_required(error_docs::WORKER_INTERRUPTED, message).with_next_command(next).for_job(job_id)
}
