//! Builds a host from configuration, stores and plugins. Commands open the stores through this module, except that
//! `bench` and `doctor` also open databases directly.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use latchwork::builder::Stores;
use latchwork::config::{CommitMode, Config, Durability, FILE_NAME, Failover, SettingSource};
use latchwork::host::Host;
use latchwork::registry::{ComponentStorage, Survey};
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::Hash;
use latchwork_core::storage::{Journal, Owner, StoreError};
use latchwork_engine::PoolSize;
use latchwork_engine::os::Machine;
use latchwork_store::{Database, DatabaseTarget, OpenOptions, Probe, server_name};
use latchwork_tooling::inspect;

use crate::crash_points::CrashPoints;
use crate::error::CliError;
use crate::session::{Session, worker_name};

/// Intended use of a database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DatabaseUse {
    /// Read only. A file that cannot be written is accepted.
    Read,
    /// Read and write.
    Write,
    /// Read and write for a long-running process. The process waits for an unreachable server.
    Serve,
}

/// Creates a host with the configured stores.
pub(crate) async fn host(session: &Session, config: Config) -> anyhow::Result<Host> {
    let survey = survey(&config);
    build_host(session, config, survey, DatabaseUse::Write).await
}

/// Creates a host from an existing survey of its plugins.
pub(crate) async fn surveyed_host(session: &Session, config: Config, survey: Survey) -> anyhow::Result<Host> {
    build_host(session, config, survey, DatabaseUse::Write).await
}

/// Inspects the plugins without compiling them or opening a database.
pub(crate) fn survey(config: &Config) -> Survey {
    tokio::task::block_in_place(|| Survey::of(config, inspect::EXPLAIN))
}

/// Creates a host for a long-running process. Waits while the database server is unreachable.
pub(crate) async fn host_for_worker(session: &Session, config: Config) -> anyhow::Result<Host> {
    let survey = survey(&config);
    build_host(session, config, survey, DatabaseUse::Serve).await
}

/// Creates a host for a command that only reads. A database that cannot be written is accepted.
pub(crate) async fn host_to_read(session: &Session, config: Config) -> anyhow::Result<Host> {
    let survey = survey(&config);
    build_host(session, config, survey, DatabaseUse::Read).await
}

async fn build_host(session: &Session, config: Config, survey: Survey, used: DatabaseUse) -> anyhow::Result<Host> {
    let crash = CrashPoints::from_env()?;
    let stores = stores(session, &config, crash.statements, used).await?;
    let kept = if used == DatabaseUse::Read { ComponentStorage::No } else { ComponentStorage::Yes };
    let pool_size = if used == DatabaseUse::Serve { PoolSize::Large } else { PoolSize::Small };
    let host = session
        .host_builder(stores)
        .config(config)
        .explain(inspect::EXPLAIN)
        .survey(survey)
        .component_storage(kept)
        .pool_size(pool_size)
        .crash_points(crash.executions)
        .start()?;
    if let Some(notifier) = host.notifier() {
        session.add_notifier(notifier.clone());
    }
    Ok(host)
}

/// Opens the configured stores for commands about existing jobs. Never creates a database.
pub(crate) async fn stores_only(session: &Session, config: &Config) -> anyhow::Result<Stores> {
    stores_for(session, config, DatabaseUse::Write).await
}

/// Opens the stores for a command that only reads. A database that cannot be written is accepted.
pub(crate) async fn stores_to_read(session: &Session, config: &Config) -> anyhow::Result<Stores> {
    stores_for(session, config, DatabaseUse::Read).await
}

async fn stores_for(session: &Session, config: &Config, used: DatabaseUse) -> anyhow::Result<Stores> {
    if let Some(path) = missing_database(config)? {
        return Err(no_database(&path).into());
    }
    stores(session, config, CrashPoints::from_env()?.statements, used).await
}

/// Returns the path of the database file if the file does not exist yet. Returns `None` for a server, which
/// reports missing tables itself.
///
/// # Errors
/// Returns an error if the folder of the file does not exist, or if there is no project here: see [`require_project`].
pub(crate) fn missing_database(config: &Config) -> anyhow::Result<Option<PathBuf>> {
    let Some(path) = file(config)? else { return Ok(None) };
    if path.exists() {
        return Ok(None);
    }
    require_project(config)?;
    Ok(Some(path))
}

/// Returns true if opening the database would create its file.
pub(crate) fn is_new(config: &Config) -> anyhow::Result<bool> {
    Ok(file(config)?.is_some_and(|path| !path.exists()))
}

/// Checks that the command runs in a project. A project has a configuration or a database.
///
/// # Errors
/// `L0110` if `--db` names a file that does not exist, or if the project has no configuration and no database
/// file.
pub(crate) fn require_project(config: &Config) -> anyhow::Result<()> {
    let Some(path) = file(config)?.filter(|path| !path.exists()) else { return Ok(()) };
    let message = match (config.database_source(), config.file()) {
        (Some(flag @ SettingSource::Flag(_)), _) => format!(
            "the database {}, which {flag} names, does not exist: correct {flag}, or create the database with \
             `latch run PLAN {flag} …`",
            path.display()
        ),
        (_, Some(_)) => return Ok(()),
        (Some(named), None) => format!(
            "{}, and the database {}, which the {named} names, does not exist: {HELP}",
            no_configuration(config),
            path.display()
        ),
        (None, None) => {
            format!("{}, and no database {}: {HELP}", no_configuration(config), path.display())
        }
    };
    const HELP: &str = "change to the project's folder, or name its configuration with --config FILE or its database \
                        with --db URL";
    Err(CliError::input(error_docs::NO_PROJECT, message).into())
}

/// Checks that there is a configuration, for commands that need nothing else.
///
/// # Errors
/// `L0110` if there is no configuration.
pub(crate) fn require_configuration(config: &Config) -> anyhow::Result<()> {
    if config.file().is_some() {
        return Ok(());
    }
    let message =
        format!("{}: change to the project's folder, or name one with --config FILE", no_configuration(config));
    Err(CliError::input(error_docs::NO_PROJECT, message).into())
}

/// Describes the folders in which no configuration was found.
fn no_configuration(config: &Config) -> String {
    format!("there is no {FILE_NAME} in {} or in a folder above it", config.root().display())
}

/// Returns the path of the database file, or `None` for a server. Fails if the folder of the file does not
/// exist.
fn file(config: &Config) -> anyhow::Result<Option<PathBuf>> {
    let DatabaseTarget::File(path) = target(config.database())? else { return Ok(None) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    if let Some(folder) = folder {
        let message = format!(
            "the folder {} of the database does not exist; create it, or name another database with --db",
            folder.display()
        );
        return Err(CliError::input(error_docs::DATABASE_UNAVAILABLE, message).into());
    }
    Ok(Some(path))
}

/// Returns the error of a command about a job in a project without a database.
pub(crate) fn no_database(path: &Path) -> CliError {
    CliError::input(error_docs::NO_SUCH_JOB, missing_database_message(path))
}

/// Names the database that does not exist yet.
pub(crate) fn missing_database_message(path: &Path) -> String {
    format!("the database {} does not exist yet; --db and --config name another", path.display())
}

/// Returns the reason why some workers could not see the effects, or `None` if all workers see them.
pub(crate) fn unshared_effects(config: &Config) -> anyhow::Result<Option<&'static str>> {
    let Some(effects) = config.effect_store() else { return Ok(None) };
    let unseen =
        matches!((target(config.database())?, target(effects)?), (DatabaseTarget::Server(_), DatabaseTarget::File(_)));
    Ok(unseen.then_some(
        "the database is on a server and `effect_store` is a file, which workers on other machines cannot read: they \
         would report its jobs as damaged. Remove `effect_store` to keep effects in the database, or name a database of \
         a server, `effect_store = \"postgres://user@host/database\"`",
    ))
}

async fn stores(
    session: &Session,
    config: &Config,
    probe: Arc<dyn Probe>,
    used: DatabaseUse,
) -> anyhow::Result<Stores> {
    file(config)?;
    if let Some(why) = unshared_effects(config)? {
        return Err(CliError::input(error_docs::CONFIG_DATABASE, why).into());
    }
    let open = async |url: &str| {
        let (patient, reads_only) = (used == DatabaseUse::Serve, used == DatabaseUse::Read);
        let options = OpenOptions { retry_unavailable: patient, reads_only, ..options(config, url, probe.clone())? };
        let store = Database::open(options).await?;
        session.add_database(store.clone());
        Ok::<_, anyhow::Error>(store)
    };
    let main = open(config.database()).await?;
    if matches!(target(config.database())?, DatabaseTarget::Server(_)) {
        synchronize_with_server(session.machine(), &main, config.clock_margin_ms()).await?;
    }
    let effects = match (config.effect_store(), config.commit()) {
        (Some(url), CommitMode::Staged) => open(url).await?,
        _ => main.clone(),
    };
    let owner = match main.read_only() {
        Some(_) => Owner::unlocked(worker_name()),
        None => session.owner(&options(config, config.database(), probe)?.owner_dir)?,
    };
    Ok(Stores::new(main, owner).with_effects(effects))
}

/// Maximum number of times that the server is asked for its time. The first answer that takes at most the clock margin
/// is used.
const TIME_REQUESTS_MAX: u32 = 10;

/// Synchronizes the clock of the command with the server. If an answer takes longer than the clock margin, discards the
/// answer and asks again.
async fn synchronize_with_server(machine: &Machine, server: &Database, margin_ms: u32) -> anyhow::Result<()> {
    let margin_us = u64::from(margin_ms) * 1000;
    for _ in 0..TIME_REQUESTS_MAX {
        let asked_us = machine.boot_us();
        let now_us = server.now_us().await?;
        let took_us = machine.boot_us() - asked_us;
        if took_us <= margin_us {
            machine.synchronize(now_us, asked_us);
            return Ok(());
        }
        tracing::warn!("the server took {} ms to report its time; asking again", took_us / 1000);
    }
    let message = format!(
        "the server takes longer than `clock_margin` ({margin_ms} ms) to report its time: check the server and the network, \
         or raise `clock_margin` on all workers"
    );
    Err(StoreError::Unavailable(message).into())
}

/// Returns the options for opening a database of this configuration. Each database has its own directory for auxiliary
/// files, so that several databases can share a state directory.
pub(crate) fn options(config: &Config, url: &str, probe: Arc<dyn Probe>) -> anyhow::Result<OpenOptions> {
    let durability = match config.durability() {
        Durability::Full => latchwork_store::CommitDurability::Full,
        Durability::Relaxed => latchwork_store::CommitDurability::Relaxed,
    };
    let clock_margin_ms = config.clock_margin_ms();
    let synchronous_failover = config.failover() == Failover::Synchronous;
    let usual = match target(url)? {
        DatabaseTarget::File(path) => OpenOptions::new(path),
        DatabaseTarget::Server(url) => {
            // The name contains host, port and database, but no user, because the database is the same for every user.
            let name = Hash::of(&[server_name(&url).as_bytes()]).to_hex();
            let dir = config.state_dir().join("servers").join(&name[..16]);
            OpenOptions::server(url, dir)
        }
    };
    Ok(OpenOptions { durability, clock_margin_ms, probe, synchronous_failover, ..usual })
}

/// Parses the address of a database.
pub(crate) fn target(url: &str) -> anyhow::Result<DatabaseTarget> {
    if let Some(path) = url.strip_prefix("sqlite://") {
        return Ok(DatabaseTarget::File(PathBuf::from(path)));
    }
    let server = url.starts_with("postgres://") || url.starts_with("postgresql://");
    server
        .then(|| DatabaseTarget::Server(url.to_owned()))
        .context("the database URL must begin with sqlite://, postgres:// or postgresql://")
}
