//! Checks of this machine: state directory, plugin cache, stored components and clock.

use std::path::Path;

use latchwork::config::Config;
use latchwork::registry;
use latchwork_engine::os;

use crate::commands::doctor::check::DoctorCheck;
use crate::commands::doctor::writable::writable;
use crate::context::CommandContext;
use crate::plugins::catalog;

/// 2025-01-01, in microseconds since 1970. An earlier time means that the clock is wrong.
const EARLIEST_US: i64 = 1_735_689_600_000_000;

pub(crate) fn state_dir(config: &Config) -> DoctorCheck {
    let dir = config.state_dir();
    let nearest = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    match writable(nearest, "set `state_dir` to another folder") {
        Ok(()) => DoctorCheck::ok("state directory", dir.display().to_string()),
        Err((found, fix)) => DoctorCheck::fail("state directory", found, fix),
    }
}

pub(crate) fn cache(ctx: &CommandContext<'_>, config: &Config) -> DoctorCheck {
    const NAME: &str = "plugin cache";
    let Some(dir) = config.cache_dir() else {
        let found = "there is no cache folder outside the project: plugins are compiled at each start";
        return DoctorCheck::warn(NAME, found, "set LATCH_CACHE_DIR to a folder of your own");
    };
    let nearest = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    if let Err((found, fix)) = writable(nearest, "set LATCH_CACHE_DIR to a folder of your own") {
        return DoctorCheck::warn(NAME, found, fix);
    }
    if !dir.exists() {
        return DoctorCheck::ok(NAME, format!("{} does not exist yet", dir.display()));
    }
    match catalog::engine(ctx.session(), config) {
        Ok(engine) => DoctorCheck::ok(NAME, format!("{}, engine profile {}", dir.display(), engine.step_profile())),
        Err(error) => DoctorCheck::fail(NAME, error.to_string(), format!("remove {}", dir.display())),
    }
}

/// Checks the stored plugin versions that jobs may have pinned.
pub(crate) fn components(config: &Config) -> DoctorCheck {
    match registry::stored_components(config.state_dir()) {
        Ok(kept) => {
            let kib = kept.iter().map(|stored| stored.bytes).sum::<u64>().div_ceil(1024);
            let found = format!(
                "{} kept for jobs that pin them, {kib} KiB; `latch plugin prune` removes those no longer needed",
                kept.len()
            );
            DoctorCheck::ok("components", found)
        }
        Err(error) => DoctorCheck::fail("components", error.to_string(), "make the state directory readable"),
    }
}

pub(crate) fn clock(ctx: &CommandContext<'_>) -> DoctorCheck {
    let now = ctx.session().now_us();
    let time = humantime::format_rfc3339_seconds(os::clock::system_time(now));
    match ctx.session().machine().boot_id() {
        _ if now < EARLIEST_US => DoctorCheck::fail(
            "clock",
            format!("the clock shows {time}, which cannot be right"),
            "set the machine's clock",
        ),
        None => DoctorCheck::fail(
            "clock",
            "the boot id cannot be read, so a dead worker cannot be distinguished from a living one",
            "mount /proc",
        ),
        Some(_) => DoctorCheck::ok("clock", time.to_string()),
    }
}
