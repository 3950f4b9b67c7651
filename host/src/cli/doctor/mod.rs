//! `latch doctor`: checks in advance everything that a job will need.
//!
//! - `check` holds the result of one check and its display.
//! - `database`, `plugins`, `secrets` and `toolchains` each check the items in their name.
//! - `deep` recomputes every hash.

mod check;
mod database;
mod deep;
mod plugins;
mod secrets;
mod toolchains;

use std::path::Path;

use latchwork_core::model::error_docs;

use self::check::{Check, CheckVerdict};
use super::args::DoctorArgs;
use super::context::Context;
use super::error::{CliError, Exit};
use super::{catalog, open};
use crate::config::{CommitMode, Config, FILE_NAME};
use crate::{os, registry, temp_files};

/// 2025-01-01, in microseconds since 1970. An earlier time of the clock is wrong.
const EARLIEST_US: i64 = 1_735_689_600_000_000;

pub(super) async fn run(args: &DoctorArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let mut checks = Vec::new();
    let config = match ctx.config(None) {
        Err(errors) => {
            let error = CliError::from(&errors);
            checks.extend(error.problems.iter().map(|problem| {
                let found = format!("{}: {}", problem.location, problem.message);
                Check::fail("configuration", found, format!("latch explain {}", problem.code))
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
            checks.push(cache(&config));
            checks.push(components(&config));
            if args.deep {
                deep::components(ctx, &config.state_dir, &mut checks);
                if let Ok(engine) = catalog::engine(&config) {
                    deep::compiled(&engine, &mut checks);
                }
            }
            secrets::secrets(&config, &mut checks);
            plugins::plugins(ctx, &config, &mut checks);
            Some(config)
        }
    };
    toolchains::toolchains(ctx, config.as_ref(), &mut checks);
    checks.push(clock());
    let failed = checks.iter().any(|check| check.verdict == CheckVerdict::Fail);
    ctx.answer(&check::document(&checks), || check::lines(&checks));
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

/// Checks the database and the effect store. With `--deep`, also checks every job in them.
async fn stores(args: &DoctorArgs, ctx: &Context<'_>, config: &Config, checks: &mut Vec<Check>) {
    let main = database::database(config, args.accept_restore, checks).await;
    let separate = match (&config.effect_store, config.commit) {
        (Some(url), CommitMode::Staged) => Some(database::effect_store(config, url, checks).await),
        _ => None,
    };
    let effects = separate.clone().unwrap_or_else(|| main.clone());
    if args.deep
        && let Some(journal) = &main
    {
        match &effects {
            Some(effects) => deep::jobs(ctx, &**journal, &**effects, checks).await,
            None => checks.push(Check::fail(
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

fn configuration(config: &Config) -> Check {
    match &config.file {
        Some(file) => Check::ok("configuration", file.display().to_string()),
        None => Check::warn(
            "configuration",
            format!(
                "there is no {FILE_NAME} in {} or in a folder above it: every key has its default, and there are no plugins",
                config.root.display()
            ),
            "write a latch.toml, or name one with --config",
        ),
    }
}

fn state_dir(config: &Config) -> Check {
    let dir = &config.state_dir;
    let nearest = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    match writable(nearest, "set `state_dir` to another folder") {
        Ok(()) => Check::ok("state directory", dir.display().to_string()),
        Err((found, fix)) => Check::fail("state directory", found, fix),
    }
}

/// Checks that files can be created in a folder. The error holds the reason and the fix to suggest.
fn writable(dir: &Path, name: &str) -> Result<(), (String, String)> {
    let Err(error) = tempfile::tempfile_in(dir) else { return Ok(()) };
    let error = temp_files::without_path(error);
    let shown = dir.display();
    let fix = match error_docs::code_of_write_error(error.kind()) {
        Some(error_docs::DISK_FULL) => format!("free disk space in {shown}, or {name}"),
        Some(_) => format!("make {shown} writable, or {name}"),
        None => format!("create the folder {shown}, or {name}"),
    };
    Err((format!("{shown} cannot be written to: {error}"), fix))
}

fn cache(config: &Config) -> Check {
    const NAME: &str = "plugin cache";
    let Some(dir) = &config.cache_dir else {
        let found = "there is no cache folder outside the project: plugins are compiled at each start";
        return Check::warn(NAME, found, "set LATCH_CACHE_DIR to a folder of your own");
    };
    let nearest = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    if let Err((found, fix)) = writable(nearest, "set LATCH_CACHE_DIR to a folder of your own") {
        return Check::warn(NAME, found, fix);
    }
    if !dir.exists() {
        return Check::ok(NAME, format!("{} does not exist yet", dir.display()));
    }
    match catalog::engine(config) {
        Ok(engine) => Check::ok(NAME, format!("{}, engine profile {}", dir.display(), engine.step_profile())),
        Err(error) => Check::fail(NAME, error.to_string(), format!("remove {}", dir.display())),
    }
}

/// Checks the stored plugin versions that jobs may have pinned.
fn components(config: &Config) -> Check {
    match registry::stored_components(&config.state_dir) {
        Ok(kept) => {
            let kib = kept.iter().map(|stored| stored.bytes).sum::<u64>().div_ceil(1024);
            let found = format!(
                "{} kept for jobs that pin them, {kib} KiB; `latch plugin prune` removes those no longer needed",
                kept.len()
            );
            Check::ok("components", found)
        }
        Err(error) => Check::fail("components", error.to_string(), "make the state directory readable"),
    }
}

fn clock() -> Check {
    let now = os::clock::now_us();
    let time = humantime::format_rfc3339_seconds(os::clock::system_time(now));
    match os::clock::boot_id() {
        _ if now < EARLIEST_US => {
            Check::fail("clock", format!("the clock shows {time}, which cannot be right"), "set the machine's clock")
        }
        None => Check::fail(
            "clock",
            "the boot id cannot be read, so a dead worker cannot be distinguished from a living one",
            "mount /proc",
        ),
        Some(_) => Check::ok("clock", time.to_string()),
    }
}
