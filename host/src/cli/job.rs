//! `latch job`.

use latchwork_core::pages;

use super::args::JobArgs;
use super::context::Context;
use super::error::{CliError, Exit};

pub(super) async fn run(_args: JobArgs, _ctx: &Context<'_>) -> anyhow::Result<Exit> {
    Err(CliError::input(pages::NOT_IN_BUILD, "`latch job` is not built into this binary").into())
}
