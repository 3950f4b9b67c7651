//! `latch man`: writes a manual page for every command.

use clap::CommandFactory;
use serde_json::json;

use crate::args::{Cli, ManArgs};
use crate::context::CommandContext;
use crate::error::{CliError, Exit};

pub(crate) fn run(args: &ManArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let unwritable = |error: std::io::Error| CliError::unwritable(&args.dir, &error);
    std::fs::create_dir_all(&args.dir).map_err(unwritable)?;
    let mut written = Vec::new();
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    write_pages(&root, &args.dir, &mut written).map_err(unwritable)?;
    let count = written.len();
    ctx.answer(&json!({ "pages": written }), || format!("{count} pages in {}", args.dir.display()));
    Ok(Exit::Done)
}

fn write_pages(command: &clap::Command, dir: &std::path::Path, written: &mut Vec<String>) -> std::io::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    let file = dir.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    std::fs::write(&file, text)?;
    written.push(file.display().to_string());
    command.get_subcommands().try_for_each(|sub| write_pages(sub, dir, written))
}
