//! `latch plugin prune`: removes stored components that are no longer needed.

use std::collections::BTreeSet;

use serde_json::json;

use latchwork::host::Host;
use latchwork_core::decide;
use latchwork_core::event::{Body, Event};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::job::JobState;
use latchwork_core::state::Durable;
use latchwork_core::storage::{JobFilter, StoreError};
use latchwork_tooling::units::size;

use crate::context::CommandContext;
use crate::error::Exit;
use crate::open;

pub(super) async fn run(ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    // Opening the host loads and stores every configured plugin. The components of configured plugins are not pruned.
    let config = ctx.config(None)?;
    open::require_project(&config)?;
    let host = open::host(ctx.session(), config).await?;
    let needed = needed_digests(&host).await?;
    let pruned = host.registry().prune(&needed)?;
    let bytes: u64 = pruned.iter().map(|component| component.bytes).sum();
    let list = pruned.iter().map(|component| {
        json!({ "plugin": component.plugin, "digest": format!("sha256:{}", component.digest), "bytes": component.bytes })
    });
    let document = json!({ "pruned": list.collect::<Vec<_>>(), "bytes": bytes });
    ctx.answer(&document, || match pruned.len() {
        0 => "every kept component is configured, fresh, or needed by a job that may continue or be undone".to_owned(),
        n => format!("{n} removed, {}", size(usize::try_from(bytes).unwrap_or(usize::MAX))),
    });
    Ok(Exit::Done)
}

/// Returns the digests of plugins that jobs may still need.
///
/// These are the pins of unfinished jobs and of jobs that can be retried. Pins of jobs that can be undone are needed
/// for the configured time.
async fn needed_digests(host: &Host) -> anyhow::Result<BTreeSet<Hash>> {
    let mut needed = BTreeSet::new();
    let kept_us = i64::try_from(host.config().keep_undoable_ms().saturating_mul(1_000)).unwrap_or(i64::MAX);
    let since_us = host.machine().now_us().saturating_sub(kept_us);
    for row in host.journal().jobs(&JobFilter { limit: u32::MAX, ..JobFilter::default() }).await? {
        let is_old = row.updated_us < since_us;
        if row.state == JobState::Cancelled || row.state == JobState::Completed && is_old {
            continue;
        }
        let Some(record) = host.journal().load(&row.job_id).await? else { continue };
        let first: Vec<Event> = record.events.iter().take(3).cloned().collect();
        if row.state == JobState::Completed {
            let damaged = |error| StoreError::Damaged(format!("job {}: {error}", row.job_id));
            let durable = Durable::without_effects(record).map_err(damaged)?;
            if decide::calls_to_undo(&durable).is_err() {
                continue;
            }
        }
        for event in &first {
            match &event.body {
                Body::IntentAccepted { header } => {
                    needed.extend(header.operators.values().map(|pinned| pinned.digest));
                }
                Body::JobForked { copied, .. } => {
                    needed.extend(copied.iter().filter_map(|step| step.maker.pinned.as_ref()).map(|p| p.digest));
                }
                _ => {}
            }
        }
    }
    Ok(needed)
}
