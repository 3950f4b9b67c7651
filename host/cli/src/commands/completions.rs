//! `latch completions`: prints a completion script for a shell.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::context::CommandContext;
use crate::error::Exit;

pub(crate) fn run(args: &CompletionsArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "latch", &mut script);
    ctx.printer.raw(&String::from_utf8(script)?);
    Ok(Exit::Done)
}
