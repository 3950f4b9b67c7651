//! `latch job replay`.

use latchwork_core::storage::StoreError;

use crate::cli::args::JobReplayArgs;
use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::open;
use crate::cli::output::Tone;
use crate::replay::{self, ReplayError};

pub(super) async fn run(args: JobReplayArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    if let Some(path) = open::missing(&config)? {
        return Err(open::no_database(&path).into());
    }
    let host = open::host(config).await?;
    let record = host.journal.load(&args.job).await?.ok_or_else(|| super::no_such_job(&args.job))?;
    let events = record.events.clone();
    let durable = host.load(&args.job).await?;
    let replayed = replay::replay(&host.registry, &durable, &events, args.every_prefix).await;
    let report = replayed.map_err(|error| match error {
        ReplayError::Missing { .. } => anyhow::Error::from(StoreError::Damaged(format!("job {}: {error}", args.job))),
        other => other.into(),
    })?;
    let document = serde_json::to_value(&report)?;
    ctx.answer(&document, || match &report.divergence {
        None => format!(
            "{}: {} events, {} prefixes, {} step runs, {} calls answered from the log, nothing executed",
            ctx.printer.tone(Tone::Good, "identical"),
            events.len(),
            report.prefixes,
            report.step_runs,
            report.calls
        ),
        Some((prefix, divergence)) => {
            format!("{} after {prefix} events: {divergence}", ctx.printer.tone(Tone::Bad, "different"))
        }
    });
    Ok(if report.divergence.is_none() { Exit::Done } else { Exit::Failed })
}
