//! `latch job show`.

use crate::args::JobShowArgs;
use crate::context::CommandContext;
use crate::error::Exit;
use crate::open;
use crate::stored_job::display::JobDisplay;

pub(super) async fn run(args: JobShowArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_to_read(ctx.session(), &config).await?;
    JobDisplay::load(ctx, &stores, &args.job).await?.print(ctx, &config);
    // The exit code does not depend on the state of the job.
    Ok(Exit::Done)
}
