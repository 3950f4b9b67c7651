//! `latch run`: submits a plan and executes the job in this process.

use crate::args::RunArgs;
use crate::context::CommandContext;
use crate::error::Exit;
use crate::execution::submit::on_host;
use crate::files::parameters;
use crate::files::source::InputSource;
use crate::open;
use crate::plugins::admission;
use crate::plugins::build::build_configured;

pub(crate) async fn run(args: RunArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    parameters::refuse_second_stdin(&args.plan, &args.parameters)?;
    let source = InputSource::read(&args.plan, ctx)?;
    let mut config = ctx.config(source.folder.as_deref())?;
    if let Some(folder) = &args.scratch {
        config = config.with_scratch_folder(folder);
    }
    if args.build {
        build_configured(ctx, &config).await?;
    }
    let survey = admission::precheck(ctx, &config, &source.name, &source.text)?;
    let host = open::surveyed_host(ctx.session(), config, survey).await?;
    on_host(&host, &source, &args, ctx).await
}
