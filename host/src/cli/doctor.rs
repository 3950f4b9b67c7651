//! `latch doctor`.

use latchwork_core::pages;

use super::context::Context;
use super::error::{CliError, Exit};

pub(super) async fn run(_ctx: &Context<'_>) -> anyhow::Result<Exit> {
    Err(CliError::input(pages::NOT_IN_BUILD, "not built into this binary").into())
}
