//! `latch plugin prune`: kept components that nobody needs any more.

use std::collections::BTreeSet;

use latchwork_core::event::Body;
use latchwork_core::ids::Hash;
use latchwork_core::job::JobState;
use latchwork_core::storage::Filter;
use serde_json::json;

use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::open;
use crate::host::Host;

pub(super) async fn run(ctx: &Context<'_>) -> anyhow::Result<Exit> {
    // The host loads, and so keeps, every configured plugin first.
    let host = open::host(ctx.config(None)?).await?;
    let needed = needed(&host).await?;
    let pruned = host.registry.prune(&needed)?;
    let bytes: u64 = pruned.iter().map(|component| component.bytes).sum();
    let list = pruned.iter().map(|component| {
        json!({ "plugin": component.plugin, "digest": format!("sha256:{}", component.digest), "bytes": component.bytes })
    });
    let document = json!({ "pruned": list.collect::<Vec<_>>(), "bytes": bytes });
    ctx.answer(&document, || match pruned.len() {
        0 => "every kept component is configured, fresh, or needed by a job that may go on".to_owned(),
        n => format!("{n} removed, {} KiB", bytes.div_ceil(1024)),
    });
    Ok(Exit::Done)
}

/// What jobs have pinned that may go on: all that are not over, and those that can be retried.
async fn needed(host: &Host) -> anyhow::Result<BTreeSet<Hash>> {
    let mut needed = BTreeSet::new();
    for row in host.journal.jobs(&Filter { limit: u32::MAX, ..Filter::default() }).await? {
        if matches!(row.state, JobState::Completed | JobState::Cancelled) {
            continue;
        }
        let Some(record) = host.journal.load(&row.job_id).await? else { continue };
        for event in record.events.iter().take(3) {
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
