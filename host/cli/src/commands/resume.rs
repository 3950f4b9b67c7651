//! `latch resume`: continues every unfinished job, or only the named one.

use std::collections::BTreeMap;

use serde_json::json;

use latchwork::host::Host;
use latchwork::runtime::WorkerError;
use latchwork_core::model::ids::JobId;
use latchwork_core::model::job::JobState;
use latchwork_core::response::{Response, response};
use latchwork_core::storage::{ClaimExclusions, JobFilter};

use crate::args::ResumeArgs;
use crate::context::CommandContext;
use crate::display::view;
use crate::error::{CliError, Exit};
use crate::execution::attach::{attach, execute};
use crate::execution::messages::parked_unloaded_message;
use crate::execution::result::show_result;
use crate::execution::settle::until_settled;
use crate::plugins::admission;
use crate::stored_job::load::no_such_job;
use crate::{interrupt, open};

pub(crate) async fn run(args: ResumeArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    if let Some(path) = open::missing_database(&config)? {
        if args.job.is_some() {
            return Err(open::no_database(&path).into());
        }
        ctx.printer.note(open::missing_database_message(&path));
        ctx.answer(&json!({ "jobs": [] }), || "nothing was left behind".to_owned());
        return Ok(Exit::Done);
    }
    let host = open::host(ctx.session(), config).await?;
    admission::warn_refused_plugins(ctx, host.registry());
    let actor = ctx.actor(None);
    match args.job {
        Some(job_id) => resume_one(ctx, &host, &job_id, &actor).await,
        None => resume_all(ctx, &host, &actor).await,
    }
}

async fn resume_one(ctx: &CommandContext<'_>, host: &Host, job_id: &JobId, actor: &str) -> anyhow::Result<Exit> {
    if host.journal().job(job_id).await?.is_none() {
        return Err(no_such_job(job_id).into());
    }
    latchwork::runtime::audit_finished_inbox(&**host.journal(), &**host.effects(), ctx.session().machine(), job_id)
        .await?;
    let response = attach(ctx, host, job_id).await?;
    let response = until_settled(ctx, host, response, actor).await?;
    show_result(ctx, host, response, true).await
}

async fn resume_all(ctx: &CommandContext<'_>, host: &Host, actor: &str) -> anyhow::Result<Exit> {
    let mut resumed = Resumed::default();
    resumed.execute_claimable(ctx, host).await?;
    let filter = JobFilter { needs_audit: true, limit: u32::MAX, ..JobFilter::default() };
    for row in host.journal().jobs(&filter).await? {
        latchwork::runtime::audit_finished_inbox(&**host.journal(), &**host.effects(), host.machine(), &row.job_id)
            .await?;
    }
    resumed.add_unclaimed(host).await?;
    resumed.warn_of_left_jobs(ctx);
    resumed.print_summary(ctx);
    resumed.show_jobs(ctx, host, actor).await
}

/// Jobs that a resume found, by their result.
#[derive(Default)]
struct Resumed {
    /// Jobs that were executed here, or that wait for a person or a time.
    responses: Vec<Response>,
    /// Jobs that were parked because they could not be loaded, each with the cause.
    unread: BTreeMap<JobId, String>,
    /// Jobs that cannot continue here, each with the error.
    left: BTreeMap<JobId, CliError>,
}

impl Resumed {
    /// Claims and executes one job after another until no job is left to claim.
    async fn execute_claimable(&mut self, ctx: &CommandContext<'_>, host: &Host) -> anyhow::Result<()> {
        loop {
            let except = ClaimExclusions { tenants: Vec::new(), jobs: self.left.keys().cloned().collect() };
            if interrupt::is_pressed() {
                return Ok(());
            }
            let claim = host.journal().claim_excluding(&host.worker().lease_request(), &except).await?;
            let Some(claim) = claim else { return Ok(()) };
            let job_id = claim.row.job_id.clone();
            match execute(ctx, host, claim).await {
                Ok(response) => self.responses.push(response),
                // An error of one job does not stop the remaining jobs.
                Err(error) => match error.downcast::<WorkerError>()? {
                    WorkerError::Released(_) if interrupt::is_pressed() => return Ok(()),
                    WorkerError::ParkedUnloaded { job_id, cause } => drop(self.unread.insert(job_id, cause)),
                    error if error.is_worker_specific() || matches!(error, WorkerError::NotLoaded { .. }) => {
                        drop(self.left.insert(job_id, CliError::from(&error)));
                    }
                    error => {
                        self.warn_of_left_jobs(ctx);
                        return Err(error.into());
                    }
                },
            }
        }
    }

    /// Adds the jobs that were not claimed because they are parked, diverged or waiting. The answer must mention every
    /// unfinished job.
    async fn add_unclaimed(&mut self, host: &Host) -> anyhow::Result<()> {
        let filter = JobFilter { open: true, limit: u32::MAX, ..JobFilter::default() };
        for row in host.journal().jobs(&filter).await? {
            let seen = self.responses.iter().any(|response| response.job_id == row.job_id)
                || self.unread.contains_key(&row.job_id)
                || self.left.contains_key(&row.job_id);
            if !seen && matches!(row.state, JobState::Parked | JobState::Diverged | JobState::Waiting) {
                match host.load(&row.job_id).await {
                    Ok(durable) => self.responses.push(response(&durable)),
                    Err(error) if error.is_worker_specific() => {
                        drop(self.left.insert(row.job_id, CliError::from(&error)));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// Warns about the jobs that do not continue here, with the reasons.
    fn warn_of_left_jobs(&self, ctx: &CommandContext<'_>) {
        for (job_id, cause) in &self.unread {
            ctx.printer.warn_of(job_id, parked_unloaded_message(ctx, job_id, cause));
        }
        for (job_id, CliError { code, message, .. }) in &self.left {
            ctx.printer
                .warn_of(job_id, format!("{job_id} cannot continue here: {message} ({code}: latch explain {code})"));
        }
    }

    /// Prints all jobs as one document with `--json`. Without `--json`, prints a line only if there are no jobs.
    fn print_summary(&self, ctx: &CommandContext<'_>) {
        let Self { responses, unread, left } = self;
        if ctx.json {
            let documents: Vec<_> = responses.iter().map(|response| view::document(ctx, response)).collect();
            let mut document = json!({ "jobs": documents });
            if !unread.is_empty() {
                document["unread"] = json!(unread);
            }
            if !left.is_empty() {
                let why = |error: &CliError| json!({ "code": error.code, "message": error.full_message() });
                document["left"] = left.iter().map(|(job_id, error)| (job_id.to_string(), why(error))).collect();
            }
            ctx.printer.document(&document);
        } else if responses.is_empty() && unread.is_empty() && left.is_empty() {
            ctx.printer.print_text("nothing was left behind");
        }
    }

    /// Shows each job. With `--json`, shows nothing, because the document already contains all jobs. Returns the worst
    /// exit status of all jobs.
    async fn show_jobs(self, ctx: &CommandContext<'_>, host: &Host, actor: &str) -> anyhow::Result<Exit> {
        let mut worst = if self.unread.is_empty() { Exit::Done } else { Exit::ActionRequired };
        let mut exits: Vec<Exit> = self.left.values().map(|error| error.exit).collect();
        for response in self.responses {
            exits.push(if ctx.json { view::exit(&response) } else { show_job(ctx, host, response, actor).await? });
        }
        for exit in exits {
            if exit.code() > worst.code() {
                worst = exit;
            }
        }
        Ok(worst)
    }
}

/// Shows a job. On a terminal, a person is first asked about the gates of the job.
async fn show_job(ctx: &CommandContext<'_>, host: &Host, response: Response, actor: &str) -> anyhow::Result<Exit> {
    let asks = response.state == JobState::Parked && ctx.printer.can_ask() && !interrupt::is_pressed();
    let response = if asks { until_settled(ctx, host, response, actor).await? } else { response };
    show_result(ctx, host, response, asks).await
}
