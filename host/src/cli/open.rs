//! Composition: configuration, stores and plugins become a host. The one place that names the
//! database.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use latchwork_core::pages;
use latchwork_store::{KillAt, NoProbe, OpenOptions, Probe, Side, Sqlite};

use super::error::{CliError, Problem};
use crate::config::{Commit, Config, Durability};
use crate::engine::LoadError;
use crate::host::{Host, StartError, Stores};
use crate::os;
use crate::worker::{CrashPoint, NoCrash};

/// Names the crash point a test wants: `name:before` or `name:after`, and perhaps `:n` for the n-th time.
const CRASH_VARIABLE: &str = "LATCH_CRASH_AT";

/// A host over the configured stores.
pub(super) async fn host(config: Config) -> anyhow::Result<Host> {
    let crash = crash_point()?;
    let stores = stores(&config, &crash).await?;
    let arrows: Arc<dyn CrashPoint> = match &crash {
        Some(kill) => Arc::new(Arrows(kill.clone())),
        None => Arc::new(NoCrash),
    };
    Host::start(config, stores, arrows).map_err(|error| match error {
        StartError::Plugins(errors) => plugins(&errors).into(),
        StartError::Engine(error) => anyhow::Error::from(error),
    })
}

/// The configured stores alone, for commands that need no plugin.
pub(super) async fn stores_only(config: &Config) -> anyhow::Result<Stores> {
    stores(config, &crash_point()?).await
}

/// Every plugin that could not be loaded, with its code.
pub(super) fn plugins(errors: &[LoadError]) -> CliError {
    let first = errors.first().map_or(pages::DEFECT, LoadError::page);
    let message = match errors.len() {
        1 => "a plugin could not be loaded".to_owned(),
        n => format!("{n} plugins could not be loaded"),
    };
    CliError::input(first, message).with(errors.iter().map(|error| Problem {
        place: error.plugin().to_owned(),
        code: error.page().to_owned(),
        message: error.to_string(),
        json: serde_json::json!({ "plugin": error.plugin(), "code": error.page(), "message": error.to_string() }),
    }))
}

async fn stores(config: &Config, crash: &Option<Arc<KillAt>>) -> anyhow::Result<Stores> {
    let probe: Arc<dyn Probe> = match crash {
        Some(kill) => kill.clone(),
        None => Arc::new(NoProbe),
    };
    std::fs::create_dir_all(&config.state_dir)
        .with_context(|| format!("the folder {} cannot be made", config.state_dir.display()))?;
    let open = |path: PathBuf, label: &str| {
        Sqlite::open(OpenOptions {
            path,
            durability: match config.durability {
                Durability::Full => latchwork_store::Durability::Full,
                Durability::Relaxed => latchwork_store::Durability::Relaxed,
            },
            clock_margin_ms: config.clock_margin_ms,
            owner_dir: config.state_dir.join("owners").join(label),
            owner_id: hex::encode(os::entropy::bytes::<16>()),
            probe: probe.clone(),
        })
    };
    let main = open(sqlite_path(&config.database)?, "main").await?;
    let effects = match (&config.effect_store, config.commit) {
        (Some(url), Commit::Staged) => open(sqlite_path(url)?, "effects").await?,
        _ => main.clone(),
    };
    Ok(Stores { owner: main.owner(), journal: main.clone(), kv: main, effects })
}

fn sqlite_path(url: &str) -> anyhow::Result<PathBuf> {
    let path = url.strip_prefix("sqlite://").with_context(|| format!("{url} is not a sqlite:// address"))?;
    Ok(PathBuf::from(path))
}

fn crash_point() -> anyhow::Result<Option<Arc<KillAt>>> {
    let Ok(text) = std::env::var(CRASH_VARIABLE) else {
        return Ok(None);
    };
    let kill = KillAt::parse(&text)
        .with_context(|| format!("{CRASH_VARIABLE}={text}: write NAME:before or NAME:after, perhaps with :N"))?;
    Ok(Some(Arc::new(kill)))
}

/// The arrows around execution are crash points like the store's statements.
struct Arrows(Arc<KillAt>);

impl CrashPoint for Arrows {
    fn at(&self, name: &'static str, after: bool) {
        self.0.at(name, if after { Side::After } else { Side::Before });
    }
}
