//! Composition: configuration, stores and plugins become a host. The one place that names the
//! database.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use latchwork_core::ids::Hash;
use latchwork_core::pages;
use latchwork_core::storage::{Journal, Owner, StoreError};
use latchwork_store::{
    Database, KillAt, NoProbe, OpenOptions, OwnerLock, Probe, Side, SystemClock, Target, server_name,
};

use super::error::{CliError, Problem};
use crate::config::{Commit, Config, Durability, Failover};
use crate::engine::LoadError;
use crate::host::{Host, StartError, Stores};
use crate::notify::Notifier;
use crate::os;
use crate::worker::{CrashPoint, NoCrash};

/// Names the crash point a test wants: `name:before` or `name:after`, and perhaps `:n` for the n-th time.
const CRASH_VARIABLE: &str = "LATCH_CRASH_AT";
/// The same, where the process is to be suspended instead of killed.
const STOP_VARIABLE: &str = "LATCH_STOP_AT";

/// A host over the configured stores.
pub(super) async fn host(config: Config) -> anyhow::Result<Host> {
    host_over(config, false).await
}

/// The same for a program that runs for long: a server that is away is waited for.
pub(super) async fn patient_host(config: Config) -> anyhow::Result<Host> {
    host_over(config, true).await
}

async fn host_over(config: Config, patient: bool) -> anyhow::Result<Host> {
    let crash = crash_point()?;
    let stores = stores(&config, &crash, patient).await?;
    let arrows: Arc<dyn CrashPoint> = match &crash {
        Some(kill) => Arc::new(Arrows(kill.clone())),
        None => Arc::new(NoCrash),
    };
    let host = Host::start(config, stores, arrows).map_err(|error| match error {
        StartError::Plugins(errors) => plugins(&errors).into(),
        StartError::Engine(error) => anyhow::Error::from(error),
    })?;
    NOTIFIERS.lock().unwrap_or_else(PoisonError::into_inner).extend(host.notifier().cloned());
    Ok(host)
}

/// What this process still has to tell.
static NOTIFIERS: Mutex<Vec<Arc<Notifier>>> = Mutex::new(Vec::new());
/// The longest that the end of a command waits for a webhook.
const NOTIFY_WAIT: Duration = Duration::from_secs(5);

/// The configured stores alone, for commands about jobs that are there: they make no database.
pub(super) async fn stores_only(config: &Config) -> anyhow::Result<Stores> {
    if let Some(path) = missing(config)? {
        return Err(no_database(&path).into());
    }
    stores(config, &crash_point()?, false).await
}

/// Whether the database that was opened is not the one that was used here last.
pub(super) async fn is_restored() -> anyhow::Result<bool> {
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
    let Some(store) = opened else { return Ok(false) };
    match store.check_generation().await {
        Ok(()) => Ok(false),
        Err(StoreError::Restored(_)) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The database's file, where it is not there and could be. A folder that is not there is an
/// error of its own, and a server says itself what it lacks.
pub(super) fn missing(config: &Config) -> anyhow::Result<Option<PathBuf>> {
    let Some(path) = file(config)? else { return Ok(None) };
    Ok((!path.exists()).then_some(path))
}

/// The database's file, where it is one. It can be made in a folder that is there.
fn file(config: &Config) -> anyhow::Result<Option<PathBuf>> {
    let Target::File(path) = target(&config.database)? else { return Ok(None) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    if let Some(folder) = folder {
        let message =
            format!("the folder {} of the database is not there; make it, or name another with --db", folder.display());
        return Err(CliError::input(pages::DATABASE_UNAVAILABLE, message).into());
    }
    Ok(Some(path))
}

/// What is said of a job where there is no database.
pub(super) fn no_database(path: &Path) -> CliError {
    CliError::input(pages::NO_SUCH_JOB, looked_in(path))
}

/// Where was looked, and that nothing is there.
pub(super) fn looked_in(path: &Path) -> String {
    format!("the database {} is not there; --db and --config name another", path.display())
}

/// Every plugin that could not be loaded, with its code.
pub(super) fn plugins(errors: &[LoadError]) -> CliError {
    let first = errors.first().map_or(pages::DEFECT, LoadError::page);
    let message = match errors.len() {
        1 => "a plugin could not be loaded".to_owned(),
        n => format!("{n} plugins could not be loaded"),
    };
    let each = errors.iter().flat_map(|error| error.problems.iter().map(move |problem| (error.plugin(), problem)));
    CliError::input(first, message).with(each.map(|(plugin, problem)| Problem {
        place: format!("plugin {plugin}"),
        code: problem.page().to_owned(),
        message: problem.to_string(),
        json: serde_json::json!({ "plugin": plugin, "code": problem.page(), "message": problem.to_string() }),
    }))
}

/// Why effects would be where not every worker sees them; none where they are not.
pub(super) fn unseen_effects(config: &Config) -> anyhow::Result<Option<&'static str>> {
    let Some(effects) = &config.effect_store else { return Ok(None) };
    let unseen = matches!((target(&config.database)?, target(effects)?), (Target::Server(_), Target::File(_)));
    Ok(unseen.then_some(
        "the database is on a server and `effect_store` is a file, which workers on other machines do not see: they \
         would find its jobs damaged. Leave `effect_store` out, and effects are in the database; or name a database of a \
         server, `effect_store = \"postgres://user@host/database\"`",
    ))
}

async fn stores(config: &Config, crash: &Option<Arc<KillAt>>, patient: bool) -> anyhow::Result<Stores> {
    file(config)?;
    if let Some(why) = unseen_effects(config)? {
        return Err(CliError::input(pages::CONFIG_DATABASE, why).into());
    }
    let probe: Arc<dyn Probe> = match crash {
        Some(kill) => kill.clone(),
        None => Arc::new(NoProbe),
    };
    let open = async |url: &str| {
        let store = Database::open(OpenOptions { patient, ..options(config, url, probe.clone())? }).await?;
        OPENED.lock().unwrap_or_else(PoisonError::into_inner).push(store.clone());
        Ok::<_, anyhow::Error>(store)
    };
    let main = open(&config.database).await?;
    if matches!(target(&config.database)?, Target::Server(_)) {
        follow_its_time(&main, config.clock_margin_ms).await?;
    }
    let effects = match (&config.effect_store, config.commit) {
        (Some(url), Commit::Staged) => open(url).await?,
        _ => main.clone(),
    };
    let owner = owner(&options(config, &config.database, probe)?.owner_dir)?;
    Ok(Stores { owner, journal: main.clone(), kv: main, effects })
}

/// How often a server's time is asked for until it is told fast enough to go by.
const TIME_ASKED_MAX: u32 = 10;

/// Go by the time of a server. An answer that was longer on its way than clocks may differ is none.
async fn follow_its_time(server: &Database, margin_ms: u32) -> anyhow::Result<()> {
    let margin_us = u64::from(margin_ms) * 1000;
    for _ in 0..TIME_ASKED_MAX {
        let asked_us = os::clock::boot_us();
        let now_us = server.now_us().await?;
        let took_us = os::clock::boot_us() - asked_us;
        if took_us <= margin_us {
            os::clock::follow(now_us, asked_us);
            return Ok(());
        }
        tracing::warn!("the server took {} ms to tell its time; asking again", took_us / 1000);
    }
    let message = format!(
        "the server takes longer than `clock_margin` ({margin_ms} ms) to tell its time: look at it and at the network, or \
         raise `clock_margin` on all workers"
    );
    Err(StoreError::Unavailable(message).into())
}

/// What this process has opened.
static OPENED: Mutex<Vec<Arc<Database>>> = Mutex::new(Vec::new());

/// How long the end of a process that hurries waits for what is away.
const HURRY_WAIT: Duration = Duration::from_secs(1);

/// Writes what is queued and closes every database: the last process to do so leaves one whole
/// file, without a write-ahead log that a copy of the file would lack. One that hurries closes what can be closed in
/// a second.
pub(super) async fn close(hurries: bool) {
    if !hurries {
        return close_all().await;
    }
    if tokio::time::timeout(HURRY_WAIT, close_all()).await.is_err() {
        tracing::warn!("the database, or the webhook, does not answer: this process ends without it");
    }
}

async fn close_all() {
    let notifiers = std::mem::take(&mut *NOTIFIERS.lock().unwrap_or_else(PoisonError::into_inner));
    for notifier in notifiers {
        let left = notifier.settled(NOTIFY_WAIT).await;
        if left > 0 {
            tracing::warn!("{left} notices were not taken by the webhook and are given up with this process");
        }
    }
    let opened = std::mem::take(&mut *OPENED.lock().unwrap_or_else(PoisonError::into_inner));
    // The first one opened is the one that this process has claims in.
    if let (Some(store), Some(lock)) = (opened.first(), LOCK.get())
        && let Some(dir) = Path::new(&lock.owner().lock_path).parent()
        && let Err(error) = store.sweep_owners(dir, lock).await
    {
        tracing::debug!("lock files are not looked over: {error}");
    }
    for store in opened {
        store.close().await;
    }
}

/// How a database of this configuration is opened. What belongs to it lies beside it, so that
/// one state directory may serve several databases.
pub(super) fn options(config: &Config, url: &str, probe: Arc<dyn Probe>) -> anyhow::Result<OpenOptions> {
    let durability = match config.durability {
        Durability::Full => latchwork_store::Durability::Full,
        Durability::Relaxed => latchwork_store::Durability::Relaxed,
    };
    let clock_margin_ms = config.clock_margin_ms;
    let synchronous_failover = config.failover == Failover::Synchronous;
    let usual = match target(url)? {
        Target::File(path) => OpenOptions::new(path),
        Target::Server(url) => {
            // Known by host, port and name: the same database under another user is the same.
            let name = Hash::of(&[server_name(&url).as_bytes()]).to_hex();
            let dir = config.state_dir.join("servers").join(&name[..16]);
            OpenOptions::server(url, dir)
        }
    };
    Ok(OpenOptions { durability, clock_margin_ms, probe, synchronous_failover, ..usual })
}

/// What a database's address names.
pub(super) fn target(url: &str) -> anyhow::Result<Target> {
    if let Some(path) = url.strip_prefix("sqlite://") {
        return Ok(Target::File(PathBuf::from(path)));
    }
    let server = url.starts_with("postgres://") || url.starts_with("postgresql://");
    server.then(|| Target::Server(url.to_owned())).context("the address of the database names neither file nor server")
}

/// This process's lock.
static LOCK: OnceLock<OwnerLock> = OnceLock::new();

/// This process as an owner of jobs; its lock is held for as long as it lives.
pub(super) fn owner(dir: &Path) -> anyhow::Result<Owner> {
    if let Some(lock) = LOCK.get() {
        return Ok(lock.owner().clone());
    }
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let worker = format!("{host} pid {}", std::process::id());
    let lock = OwnerLock::take(dir, &worker, &hex::encode(os::entropy::bytes::<16>()), &SystemClock::new()?)?;
    Ok(LOCK.get_or_init(|| lock).owner().clone())
}

fn crash_point() -> anyhow::Result<Option<Arc<KillAt>>> {
    let named = |variable: &str| std::env::var(variable).ok().map(|text| point(variable, &text)).transpose();
    let kill = named(CRASH_VARIABLE)?;
    let stop = named(STOP_VARIABLE)?.map(KillAt::stopping);
    Ok(kill.or(stop).map(Arc::new))
}

fn point(variable: &str, text: &str) -> anyhow::Result<KillAt> {
    let mut parts = text.split(':');
    let (name, side, nth) = match (parts.next(), parts.next(), parts.next().map(str::parse), parts.next()) {
        (Some(name), Some("before"), nth, None) if !matches!(nth, Some(Err(_))) => (name, Side::Before, nth),
        (Some(name), Some("after"), nth, None) if !matches!(nth, Some(Err(_))) => (name, Side::After, nth),
        _ => anyhow::bail!("{variable}={text}: write NAME:before or NAME:after, perhaps with :N"),
    };
    Ok(KillAt::new(name, side, nth.and_then(Result::ok).unwrap_or(1)))
}

/// The arrows around execution are crash points like the store's statements.
struct Arrows(Arc<KillAt>);

impl CrashPoint for Arrows {
    fn at(&self, name: &'static str, after: bool) {
        self.0.at(name, if after { Side::After } else { Side::Before });
    }
}
