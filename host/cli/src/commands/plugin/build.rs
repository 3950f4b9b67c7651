//! `latch plugin build` and `latch plugin toolchain`: build components from source, and find the compiler.

use std::path::PathBuf;

use serde_json::json;

use latchwork_tooling::build::{BuildOptions, BuiltPlugin, Toolchain};

use crate::args::PluginBuildArgs;
use crate::context::CommandContext;
use crate::error::Exit;
use crate::open;
use crate::plugins::build::{LockFiles, build_all, build_error, configured_folders};
use crate::text::Text;

pub(crate) async fn run(args: &PluginBuildArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let locks = if args.update { LockFiles::Update } else { LockFiles::Keep };
    let built = match args.dirs.as_slice() {
        [] => {
            let config = ctx.config(None)?;
            open::require_configuration(&config)?;
            build_all(ctx, &configured_folders(&config), locks)?
        }
        dirs => build_all(ctx, &dirs.iter().map(|dir| ctx.cwd.join(dir)).collect::<Vec<_>>(), locks)?,
    };
    let entry = |built: &BuiltPlugin| {
        json!({
            "name": built.name,
            "kind": built.kind,
            "component": built.wasm.display().to_string(),
            "digest": format!("sha256:{}", built.digest),
            "bytes": built.bytes,
            "changed": built.changed,
        })
    };
    let document = json!({ "built": built.iter().map(entry).collect::<Vec<_>>() });
    let line = |built: &BuiltPlugin| format!("{}  sha256:{}", built.wasm.display(), built.digest);
    ctx.answer(&document, || match built.as_slice() {
        [] => "no configured plugin is built from source".to_owned(),
        built => built.iter().map(line).collect::<Vec<_>>().join("\n"),
    });
    Ok(Exit::Done)
}

/// Finds the compiler for Rust plugins, or installs it.
pub(crate) fn toolchain(ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let found = tokio::task::block_in_place(|| {
        Toolchain::find(&ctx.cwd, &BuildOptions::from_env()?, &mut |line| ctx.printer.note(line))
    });
    let rustc = found.map_err(|error| build_error(ctx, error))?.rustc.unwrap_or_else(|| PathBuf::from("rustc"));
    ctx.answer(&json!({ "rustc": rustc }), || Text::unwrapped(rustc.display().to_string()));
    Ok(Exit::Done)
}
