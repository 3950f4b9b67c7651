//! `latch plugin new`: a project to begin with.

use latchwork_core::pages;
use serde_json::json;

use crate::build::{New, NewError};
use crate::cli::args::PluginNewArgs;
use crate::cli::context::Context;
use crate::cli::error::{CliError, Exit};

pub(super) fn run(args: &PluginNewArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let new = New { name: args.name.clone(), kind: args.kind.into(), lang: args.lang.into() };
    let dir = new.write(&ctx.cwd.join(&args.into)).map_err(|error| match error {
        NewError::Name(_) | NewError::Exists(_) => CliError::input(pages::PLUGIN_NEW, error.to_string()),
        NewError::Write(_) => CliError::failed(pages::PLUGIN_NEW, error.to_string()),
    })?;
    let shown = dir.strip_prefix(&ctx.cwd).unwrap_or(&dir).display().to_string();
    let (test, build) = (new.test_command(), format!("latch plugin build {shown}"));
    let document = json!({ "plugin": new.name, "dir": dir.display().to_string(), "test": test, "build": build });
    ctx.answer(&document, || format!("made {shown}\nnext: (cd {shown} && {test}), {build}"));
    Ok(Exit::Done)
}
