//! Runs the checks in order and prints them.

use latchwork::config::{CommitMode, Config, FILE_NAME};

use crate::args::DoctorArgs;
use crate::commands::doctor::check::{CheckVerdict, DoctorCheck};
use crate::commands::doctor::machine::{cache, clock, components, state_dir};
use crate::commands::doctor::{check, database, deep, limits, maps, plugins, secrets, toolchains};
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::open;
use crate::plugins::catalog;

pub(crate) async fn run(args: &DoctorArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    if args.limits {
        limits::print(ctx);
        return Ok(Exit::Done);
    }
    let mut checks = Vec::new();
    let config = match ctx.config(None) {
        Err(errors) => {
            let error = CliError::from(&errors);
            checks.extend(error.problems.iter().map(|problem| {
                let found = format!("{}: {}", problem.location, problem.message);
                DoctorCheck::fail("configuration", found, format!("latch explain {}", problem.code))
            }));
            None
        }
        Ok(config) => {
            if args.accept_restore && !database::was_used(&config) {
                open::require_project(&config)?;
            }
            checks.push(configuration(&config));
            stores(args, ctx, &config, &mut checks).await;
            checks.push(state_dir(&config));
            checks.push(cache(ctx, &config));
            checks.push(components(&config));
            if args.deep {
                deep::components(ctx, config.state_dir(), &mut checks);
                if let Ok(engine) = catalog::engine(ctx.session(), &config) {
                    deep::compiled(&engine, &mut checks);
                }
            }
            secrets::secrets(&config, &mut checks);
            plugins::plugins(ctx, &config, &mut checks);
            Some(config)
        }
    };
    toolchains::toolchains(ctx, config.as_ref(), &mut checks);
    checks.push(clock(ctx));
    let failed = checks.iter().any(|check| check.verdict == CheckVerdict::Fail);
    ctx.answer(&check::document(&checks), || check::lines(&checks));
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

/// Checks the database and the effect store. With `--deep`, also checks every stored job.
pub(crate) async fn stores(
    args: &DoctorArgs,
    ctx: &CommandContext<'_>,
    config: &Config,
    checks: &mut Vec<DoctorCheck>,
) {
    let main = database::database(config, args.accept_restore, checks).await;
    if let Some(store) = &main {
        maps::maps(config, store, checks).await;
    }
    let separate = match (config.effect_store(), config.commit()) {
        (Some(url), CommitMode::Staged) => Some(database::effect_store(config, url, checks).await),
        _ => None,
    };
    let effects = separate.clone().unwrap_or_else(|| main.clone());
    if args.deep
        && let Some(journal) = &main
    {
        match &effects {
            Some(effects) => deep::jobs(ctx, &**journal, &**effects, checks).await,
            None => checks.push(DoctorCheck::fail(
                "jobs",
                "not checked: the effect store is unavailable",
                "see the check of the effect store",
            )),
        }
    }
    for store in main.into_iter().chain(separate.flatten()) {
        store.close().await;
    }
}

pub(crate) fn configuration(config: &Config) -> DoctorCheck {
    match config.file() {
        Some(file) => DoctorCheck::ok("configuration", file.display().to_string()),
        None => DoctorCheck::warn(
            "configuration",
            format!(
                "there is no {FILE_NAME} in {} or in a folder above it: every key has its default, and there are no plugins",
                config.root().display()
            ),
            "write a latch.toml, or name one with --config",
        ),
    }
}
