//! `latch job replay`.

use serde_json::{Value, json};

use latchwork::host::Host;
use latchwork::replay;
use latchwork::replay::{ReplayError, ReplayReport};
use latchwork_core::model::ids::JobId;
use latchwork_core::storage::{JobFilter, StoreError};

use crate::args::JobReplayArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::open;
use crate::plugins::admission;
use crate::stored_job::load::no_such_job;
use crate::text::{Text, Tone};

pub(super) async fn run(args: JobReplayArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    if let Some(path) = open::missing_database(&config)? {
        return Err(open::no_database(&path).into());
    }
    let host = open::host_to_read(ctx.session(), config).await?;
    admission::warn_refused_plugins(ctx, host.registry());
    let Some(job_id) = args.job else { return every_job(&host, args.every_prefix, ctx).await };
    let (events, report) = replayed(&host, &job_id, args.every_prefix).await?;
    ctx.answer(&serde_json::to_value(&report)?, || report_line(events, &report));
    Ok(if report.divergence.is_none() { Exit::Done } else { Exit::Failed })
}

/// Replays all jobs of the database, oldest first. Continues with the next job if a job cannot be replayed.
async fn every_job(host: &Host, every_prefix: bool, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let filter = JobFilter { limit: u32::MAX, ..JobFilter::default() };
    let mut jobs: Vec<Value> = Vec::new();
    let mut worst = Exit::Done;
    for row in host.journal().jobs(&filter).await?.into_iter().rev() {
        let job_id = row.job_id;
        let (mut document, line) = match replayed(host, &job_id, every_prefix).await {
            Ok((events, report)) => {
                if report.divergence.is_some() {
                    worst = Exit::Failed;
                }
                (serde_json::to_value(&report)?, report_line(events, &report))
            }
            Err(error) => {
                worst = Exit::Failed;
                let CliError { code, message, .. } = CliError::from(error);
                (json!({ "error": { "code": code, "message": message } }), Text::from(format!("{code} {message}")))
            }
        };
        document["job_id"] = json!(job_id);
        jobs.push(document);
        if !ctx.json {
            ctx.printer.print_text(Text::from(format!("{job_id} ")) + line);
        }
    }
    let none = jobs.is_empty();
    let document = json!({ "jobs": jobs });
    match (ctx.json, none) {
        (true, _) => ctx.printer.document(&document),
        (false, true) => ctx.printer.print_text("the database contains no jobs"),
        (false, false) => {}
    }
    Ok(worst)
}

/// Replays a job. Returns its number of events and the report.
async fn replayed(host: &Host, job_id: &JobId, every_prefix: bool) -> anyhow::Result<(usize, ReplayReport)> {
    let record = host.journal().load(job_id).await?.ok_or_else(|| no_such_job(job_id))?;
    let durable = host.load(job_id).await?;
    let replayed = replay::replay(&**host.registry(), &durable, &record.events, every_prefix).await;
    let report = replayed.map_err(|error| match error {
        ReplayError::Missing { .. } => anyhow::Error::from(StoreError::Damaged(format!("job {job_id}: {error}"))),
        other => other.into(),
    })?;
    Ok((record.events.len(), report))
}

fn report_line(events: usize, report: &ReplayReport) -> Text {
    match &report.divergence {
        None => {
            let not_checked: Vec<_> = report.not_checked.iter().map(ToString::to_string).collect();
            let not_checked = match not_checked.is_empty() {
                true => String::new(),
                false => {
                    format!("; not checked, because a limit of time or stack ended it: {}", not_checked.join(", "))
                }
            };
            Tone::Good.of("identical")
                + format!(
                    ": {events} events, {} prefixes, {} step runs, {} calls answered from the log, nothing \
                     executed{not_checked}",
                    report.prefixes, report.step_runs, report.calls
                )
        }
        Some((prefix, divergence)) => Tone::Bad.of("different") + format!(" after {prefix} events: {divergence}"),
    }
}
