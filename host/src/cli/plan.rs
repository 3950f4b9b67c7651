//! `latch plan`.

use latchwork_core::{pages, plan};

use super::args::{PlanArgs, PlanCommand};
use super::context::Context;
use super::error::{CliError, Exit};

pub(super) async fn run(args: PlanArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    match args.command {
        PlanCommand::Schema => {
            ctx.printer.raw(plan::SCHEMA);
            Ok(Exit::Done)
        }
        PlanCommand::Check(_) => Err(CliError::input(pages::NOT_IN_BUILD, "not built into this binary").into()),
    }
}
