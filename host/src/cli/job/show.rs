//! `latch job show`.

use latchwork_core::pending;
use latchwork_core::response::response;

use crate::cli::args::JobShowArgs;
use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::{gates, open, view};
use crate::os::clock;

pub(super) async fn run(args: JobShowArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_only(&config).await?;
    let (durable, inbox) = super::loaded(&stores, &args.job).await?;
    let shown = response(&durable).with_pending(&durable, &inbox, clock::now_us());
    let shown = if open::is_restored().await? { shown.of_restored() } else { shown };
    view::answer(ctx, &shown);
    if !ctx.json {
        let rules = gates::rules(&config, &durable.job.header);
        for slot in durable.job.gates.keys() {
            let undecided = durable.job.undecided(slot).filter(|gate| !pending::is_decided(gate, &inbox, slot));
            let Some(gate) = undecided else { continue };
            for line in gates::shown(&durable, slot, gate, &rules) {
                ctx.printer.say(line);
            }
        }
    }
    // Showing is what was asked for: it is done, whatever the job came to.
    Ok(Exit::Done)
}
