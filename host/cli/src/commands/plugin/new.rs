//! `latch plugin new`: creates a plugin project.

use std::path::PathBuf;

use serde_json::json;

use latchwork_core::model::error_docs;
use latchwork_core::response::shell_quoted;
use latchwork_tooling::build::{NewError, NewPlugin};

use crate::args::PluginNewArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::text::{Text, Tone};

pub(super) fn run(args: &PluginNewArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let new = NewPlugin { name: args.name.clone(), kind: args.kind.into(), lang: args.lang.into() };
    let dir = new.write(&ctx.cwd.join(&args.into).components().collect::<PathBuf>()).map_err(|error| match error {
        NewError::Name(_) | NewError::Exists(_) => CliError::input(error_docs::PLUGIN_NEW, error.to_string()),
        NewError::Write(why) => CliError::unwritable_build(&why)
            .unwrap_or_else(|| CliError::failed(error_docs::PLUGIN_NEW, why.to_string())),
    })?;
    let displayed = dir.strip_prefix(&ctx.cwd).unwrap_or(&dir).display().to_string();
    let folder = shell_quoted(&displayed);
    let (test, build) = (new.test_command(), format!("latch plugin build {folder}"));
    let run = "latch run plan.json --build";
    let document =
        json!({ "plugin": new.name, "dir": dir.display().to_string(), "test": test, "build": build, "run": run });
    ctx.answer(&document, || {
        let commands = [format!("(cd {folder} && {test})"), build.clone(), format!("(cd {folder} && {run})")];
        let made = Text::from(format!("made {displayed}")).under(Tone::Title.of("next:"));
        commands.iter().fold(made, |text, command| text.under(Text::unwrapped(format!("  {command}"))))
    });
    Ok(Exit::Done)
}
