//! `latch run`.

use latchwork_core::pages;

use super::args::RunArgs;
use super::context::Context;
use super::error::{CliError, Exit};

pub(super) async fn run(_args: RunArgs, _ctx: &Context<'_>) -> anyhow::Result<Exit> {
    Err(CliError::input(pages::NOT_IN_BUILD, "`latch run` is not built into this binary").into())
}
