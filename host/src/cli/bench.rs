//! `latch bench`.

use latchwork_core::pages;

use super::args::BenchArgs;
use super::context::Context;
use super::error::{CliError, Exit};

pub(super) async fn run(_args: BenchArgs, _ctx: &Context<'_>) -> anyhow::Result<Exit> {
    Err(CliError::input(pages::NOT_IN_BUILD, "`latch bench` is not built into this binary").into())
}
