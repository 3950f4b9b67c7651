//! `latch job show`.

use latchwork_core::response::response;

use crate::cli::args::JobShowArgs;
use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::{gates, open, view};

pub(super) async fn run(args: JobShowArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let stores = open::stores_only(&ctx.config(None)?).await?;
    let durable = super::durable(&stores, &args.job).await?;
    let shown = response(&durable);
    let shown = if open::is_restored().await? { shown.of_restored() } else { shown };
    view::answer(ctx, &shown);
    if !ctx.json {
        for slot in durable.job.gates.keys() {
            let Some(gate) = durable.job.undecided(slot) else { continue };
            for line in gates::shown(&durable, slot, gate) {
                ctx.printer.say(line);
            }
        }
    }
    // Showing is what was asked for: it is done, whatever the job came to.
    Ok(Exit::Done)
}
