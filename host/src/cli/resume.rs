//! `latch resume`.

use latchwork_core::pages;

use super::args::ResumeArgs;
use super::context::Context;
use super::error::{CliError, Exit};

pub(super) async fn run(_args: ResumeArgs, _ctx: &Context<'_>) -> anyhow::Result<Exit> {
    Err(CliError::input(pages::NOT_IN_BUILD, "`latch resume` is not built into this binary").into())
}
