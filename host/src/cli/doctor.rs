//! `latch doctor`: what a job will need, looked at before it needs it.

use std::path::Path;
use std::sync::Arc;

use latchwork_core::pages;
use latchwork_core::storage::StoreError;
use latchwork_store::{Database, NO_TABLES, NoProbe, OpenOptions, Target, server_name, times_used};
use serde_json::{Value, json};

use super::args::DoctorArgs;
use super::context::Context;
use super::error::{CliError, Exit};
use super::output::Tone;
use super::plugin::confirmation::{self, Confirmed};
use super::{catalog, open, unheeded};
use crate::build::{self, RECIPE, Recipe, Toolchain};
use crate::config::{Commit, Config, Durability};
use crate::os;
use crate::registry::{self, Registry};

/// 2025-01-01: a machine that believes to be earlier has lost its clock.
const EARLIEST_US: i64 = 1_735_689_600_000_000;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
struct Check {
    name: &'static str,
    verdict: Verdict,
    found: String,
    fix: Option<String>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, found: found.into(), fix: None }
    }
    fn warn(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Warn, found: found.into(), fix: Some(fix.into()) }
    }
    fn fail(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(name, found, fix) }
    }
}

pub(super) async fn run(args: &DoctorArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let mut checks = Vec::new();
    match ctx.config(None) {
        Err(errors) => {
            let error = CliError::from(&errors);
            let problems: Vec<_> = error.problems.iter().map(|p| format!("{}: {}", p.place, p.message)).collect();
            checks.push(Check::fail("configuration", problems.join("\n"), format!("latch explain {}", error.code)));
        }
        Ok(config) => {
            checks.push(configuration(&config));
            database(&config, args.accept_restore, &mut checks).await;
            if let (Some(url), Commit::Staged) = (&config.effect_store, config.commit) {
                checks.push(effect_store(&config, url).await);
            }
            checks.push(state_dir(&config));
            checks.push(cache(&config));
            checks.push(components(&config));
            plugins(&config, &mut checks);
        }
    }
    checks.push(toolchain(ctx));
    checks.push(clock());
    let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    ctx.answer(&document(&checks), || lines(ctx, &checks).join("\n"));
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn configuration(config: &Config) -> Check {
    match &config.file {
        Some(file) => Check::ok("configuration", file.display().to_string()),
        None => Check::warn(
            "configuration",
            "there is none here: every key has its default, and there are no plugins",
            "write a latch.toml, or name one with --config",
        ),
    }
}

const NAME: &str = "database";

async fn database(config: &Config, accept_restore: bool, checks: &mut Vec<Check>) {
    let name = match open::target(&config.database) {
        Err(error) => return checks.push(Check::fail(NAME, error.to_string(), "latch explain L0009")),
        Ok(Target::Server(url)) => server_name(&url),
        Ok(Target::File(path)) => {
            if let Some(check) = absent(config, &path, accept_restore) {
                return checks.push(check);
            }
            path.display().to_string()
        }
    };
    let store = match opened(config, &config.database, accept_restore).await {
        Ok(store) => store,
        Err(error) if is_new(&error) => return checks.push(Check::ok(NAME, format!("{name} answers; {NO_TABLES}"))),
        Err(error) => return checks.push(store_failure(NAME, &error)),
    };
    if accept_restore {
        checks.push(match store.accept_restore().await {
            Ok(()) => Check::ok("restore", "this database is worked with from now on"),
            Err(error) => store_failure("restore", &error),
        });
    }
    checks.push(match store.check_generation().await {
        Ok(()) => Check::ok("generation", "it is the database that was used here last"),
        Err(error) => store_failure("generation", &error),
    });
    let server = store.about_server();
    checks.push(match store.check_file().await {
        Ok(()) if server.is_empty() => Check::ok(NAME, format!("{name}: the file is sound")),
        Ok(()) => Check::ok(NAME, format!("{name} answers: {server}")),
        Err(error) => store_failure(NAME, &error),
    });
    checks.push(match config.durability {
        Durability::Full if server.is_empty() => Check::ok("durability", "WAL with synchronous=FULL, read back"),
        Durability::Full => Check::ok("durability", "synchronous_commit, fsync and full_page_writes are on, read back"),
        Durability::Relaxed => Check::warn(
            "durability",
            "relaxed: a power failure may undo what was acknowledged, and calls may happen twice",
            "remove `durability = \"relaxed\"`",
        ),
    });
    store.close().await;
}

/// What there is to say of a file that is not there; none where it is, or may be made.
fn absent(config: &Config, path: &Path, accept_restore: bool) -> Option<Check> {
    if path.exists() || accept_restore {
        return None;
    }
    let used = open::options(config, &config.database, Arc::new(NoProbe)).map(|options| times_used(&options.owner_dir));
    if let Ok(Ok(times @ 1..)) = used {
        let found = format!("{} is not there, although it has been used for work {times} times", path.display());
        return Some(Check::fail(NAME, found, "put it back; or, if it may go: latch doctor --accept-restore"));
    }
    Some(match writable(path.parent().unwrap_or(Path::new("/"))) {
        Ok(()) => Check::ok(NAME, format!("{} is not there yet; the first run makes it", path.display())),
        Err(error) => Check::fail(NAME, error, "make the folder, or choose another database"),
    })
}

/// Whether all that a server's database lacks is tables.
fn is_new(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable(message) if message.ends_with(NO_TABLES))
}

async fn effect_store(config: &Config, url: &str) -> Check {
    let name = "effect store";
    if let Ok(Some(why)) = open::unseen_effects(config) {
        return Check::fail(name, why, format!("latch explain {}", pages::CONFIG_DATABASE));
    }
    let (shown, whole) = match open::target(url) {
        Ok(Target::File(path)) if !path.exists() => {
            return Check::ok(name, format!("{} is not there yet", path.display()));
        }
        Err(error) => return Check::fail(name, error.to_string(), "latch explain L0009"),
        Ok(Target::File(path)) => (path.display().to_string(), "the file is sound"),
        Ok(Target::Server(url)) => (server_name(&url), "answers"),
    };
    match opened(config, url, false).await {
        Err(error) if is_new(&error) => Check::ok(name, format!("{shown} answers; {NO_TABLES}")),
        Err(error) => store_failure(name, &error),
        Ok(store) => match store.check_file().await {
            Ok(()) => Check::ok(name, format!("{shown} {whole}")),
            Err(error) => store_failure(name, &error),
        },
    }
}

async fn opened(config: &Config, url: &str, create: bool) -> Result<Arc<Database>, StoreError> {
    let options =
        open::options(config, url, Arc::new(NoProbe)).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    // Looking must not make anything; accepting that the old one is gone may.
    Database::open(OpenOptions { create, ..options }).await
}

fn store_failure(name: &'static str, error: &StoreError) -> Check {
    let code = CliError::from(error).code;
    let fix = match code {
        pages::DATABASE_RESTORED => "once you know what it missed: latch doctor --accept-restore".to_owned(),
        code => format!("latch explain {code}"),
    };
    Check::fail(name, error.to_string(), fix)
}

fn state_dir(config: &Config) -> Check {
    let dir = &config.state_dir;
    let nearest = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    match writable(nearest) {
        Ok(()) => Check::ok("state directory", dir.display().to_string()),
        Err(error) => Check::fail("state directory", error, "set `state_dir` to a folder that may be written"),
    }
}

/// Whether files can be made in a folder.
fn writable(dir: &Path) -> Result<(), String> {
    tempfile::tempfile_in(dir).map(drop).map_err(|error| format!("{} cannot be written to: {error}", dir.display()))
}

fn cache(config: &Config) -> Check {
    const NAME: &str = "plugin cache";
    let Some(dir) = &config.cache_dir else {
        let found = "there is no place for one outside the project: plugins are compiled at each start";
        return Check::warn(NAME, found, "set LATCH_CACHE_DIR to a folder of your own");
    };
    let nearest = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    if let Err(error) = writable(nearest) {
        return Check::warn(NAME, error, "set LATCH_CACHE_DIR to a folder of your own");
    }
    if !dir.exists() {
        return Check::ok(NAME, format!("{} is not there yet", dir.display()));
    }
    match catalog::engine(config) {
        Ok(engine) => Check::ok(NAME, format!("{}, engine profile {}", dir.display(), engine.step_profile())),
        Err(error) => Check::fail(NAME, error.to_string(), format!("remove {}", dir.display())),
    }
}

/// Versions of plugins that jobs may have pinned.
fn components(config: &Config) -> Check {
    match registry::kept(&config.state_dir) {
        Ok(kept) => {
            let kib = kept.iter().map(|stored| stored.bytes).sum::<u64>().div_ceil(1024);
            let found = format!(
                "{} kept for jobs that pin them, {kib} KiB; `latch plugin prune` removes what is not needed",
                kept.len()
            );
            Check::ok("components", found)
        }
        Err(error) => Check::fail("components", error.to_string(), "let the state directory be read"),
    }
}

fn plugins(config: &Config, checks: &mut Vec<Check>) {
    const NAME: &str = "plugins";
    let unbuilt: Vec<String> = config
        .plugins
        .iter()
        .filter(|plugin| plugin.source.join(RECIPE).is_file())
        .filter(|plugin| {
            Recipe::read(&plugin.source).is_ok_and(|recipe| !build::component_path(&plugin.source, &recipe).is_file())
        })
        .map(|plugin| plugin.name.clone())
        .collect();
    if !unbuilt.is_empty() {
        let found = format!("not built yet: {}", unbuilt.join(", "));
        return checks.push(Check::warn(NAME, found, "latch plugin build"));
    }
    let loaded = catalog::registry(config);
    checks.extend(loaded.as_ref().ok().and_then(|registry| confirmation(config, registry)));
    checks.extend(loaded.as_ref().ok().and_then(|registry| unheeded(config, registry)));
    checks.push(match loaded {
        Ok(registry) => {
            Check::ok(NAME, format!("{} loaded, {} operators", registry.plugins().len(), registry.pin().len()))
        }
        Err(error) => {
            let error = CliError::from(error);
            let problems: Vec<_> = error.problems.iter().map(|problem| problem.message.clone()).collect();
            let found = if problems.is_empty() { error.message.clone() } else { problems.join("\n") };
            Check::fail(NAME, found, format!("latch explain {}", error.code))
        }
    });
}

/// Settings that hold for nothing; none where there are none.
fn unheeded(config: &Config, registry: &Registry) -> Option<Check> {
    let found = unheeded::settings(config, registry);
    let fix = "correct what is misspelt, or leave out what says nothing here";
    (!found.is_empty()).then(|| Check::warn("settings", found.join("\n"), fix))
}

/// Who looks at effects when a job is resumed; none where no plugin has any.
fn confirmation(config: &Config, registry: &Registry) -> Option<Check> {
    let said: Vec<String> = registry
        .plugins()
        .iter()
        .filter_map(|plugin| {
            let configured = config.plugins.iter().find(|configured| configured.name == plugin.name)?;
            let confirmed = confirmation::of(config, configured, plugin);
            (confirmed != Confirmed::Nothing).then(|| format!("{}: {confirmed}", plugin.name))
        })
        .collect();
    (!said.is_empty()).then(|| Check::ok("confirmation", said.join(", ")))
}

fn toolchain(ctx: &Context<'_>) -> Check {
    // The ways that only look: doctor installs nothing.
    let options = build::Options { skip: vec![3, 4], ..build::Options::from_env() };
    match Toolchain::find(&ctx.cwd, &options, &mut |_| ()) {
        Ok(Toolchain { rustc: None }) => Check::ok("toolchain", "rustc has the Wasm target"),
        Ok(Toolchain { rustc: Some(rustc) }) => Check::ok("toolchain", format!("{} is made for Wasm", rustc.display())),
        Err(error) => Check::warn(
            "toolchain",
            error.to_string(),
            "latch plugin toolchain installs one; only building plugins needs it",
        ),
    }
}

fn clock() -> Check {
    let now = os::clock::now_us();
    let time = humantime::format_rfc3339_seconds(os::clock::system_time(now));
    match os::clock::boot_id() {
        _ if now < EARLIEST_US => Check::fail("clock", format!("it is not {time}"), "set the machine's clock"),
        None => Check::fail(
            "clock",
            "the system does not tell its boot id, so a dead worker cannot be told from a living one",
            "mount /proc",
        ),
        Some(_) => Check::ok("clock", time.to_string()),
    }
}

fn document(checks: &[Check]) -> Value {
    let word = |verdict| match verdict {
        Verdict::Ok => "ok",
        Verdict::Warn => "warn",
        Verdict::Fail => "fail",
    };
    let check = |check: &Check| json!({ "check": check.name, "verdict": word(check.verdict), "found": check.found, "fix": check.fix });
    json!({ "version": env!("CARGO_PKG_VERSION"), "checks": checks.iter().map(check).collect::<Vec<_>>() })
}

fn lines(ctx: &Context<'_>, checks: &[Check]) -> Vec<String> {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut lines = Vec::new();
    for check in checks {
        let (tone, word) = match check.verdict {
            Verdict::Ok => (Tone::Good, "ok  "),
            Verdict::Warn => (Tone::Attention, "warn"),
            Verdict::Fail => (Tone::Bad, "fail"),
        };
        let found = check.found.replace('\n', &format!("\n      {:width$}  ", ""));
        lines.push(format!("{}  {:width$}  {found}", ctx.printer.tone(tone, word), check.name));
        if let Some(fix) = &check.fix {
            lines.push(format!("      {:width$}  {} {fix}", "", ctx.printer.tone(Tone::Title, "fix:")));
        }
    }
    lines
}
