//! Checks of the database and of the effect store.

use std::path::Path;
use std::sync::Arc;

use latchwork::config::{Config, Durability};
use latchwork_core::model::error_docs;
use latchwork_core::storage::StoreError;
use latchwork_store::{Database, DatabaseTarget, NO_TABLES, NoProbe, OpenOptions, server_name, times_used};

use crate::commands::doctor::check::DoctorCheck;
use crate::commands::doctor::writable::writable;
use crate::error::CliError;
use crate::open;

const NAME: &str = "database";

/// Checks the database. Returns the database if it could be opened.
pub(super) async fn database(
    config: &Config,
    accept_restore: bool,
    checks: &mut Vec<DoctorCheck>,
) -> Option<Arc<Database>> {
    let name = match open::target(config.database()) {
        Err(error) => {
            checks.push(DoctorCheck::fail(NAME, error.to_string(), "latch explain L0009"));
            return None;
        }
        Ok(DatabaseTarget::Server(url)) => server_name(&url),
        Ok(DatabaseTarget::File(path)) => {
            if let Some(check) = check_missing_file(config, &path, accept_restore) {
                checks.push(check);
                return None;
            }
            path.display().to_string()
        }
    };
    let store = match open_for_check(config, config.database(), accept_restore).await {
        Ok(store) => store,
        Err(error) => {
            checks.push(match lacks_tables(&error) {
                true => DoctorCheck::ok(NAME, format!("{name} answers; {NO_TABLES}")),
                false => store_failure(NAME, &error),
            });
            return None;
        }
    };
    if accept_restore {
        checks.push(match store.accept_restore().await {
            Ok(()) => DoctorCheck::ok("restore", "this database is used from now on"),
            Err(error) => store_failure("restore", &error),
        });
    }
    if let Some(why) = store.read_only() {
        let fix = "none, for a copy that is only read; to work with it, restore write permission, or copy it, with the -wal \
                   beside it, to a writable folder";
        checks.push(match store.check_file().await {
            Ok(()) => DoctorCheck::warn(NAME, format!("{name}: the file is sound but read-only: {why}"), fix),
            Err(error) => store_failure(NAME, &error),
        });
        return Some(store);
    }
    checks.push(match store.check_generation().await {
        Ok(()) => DoctorCheck::ok("generation", "this is the database that was last used here"),
        Err(error) => store_failure("generation", &error),
    });
    let server = store.about_server();
    checks.push(match store.check_file().await {
        Ok(()) if server.is_empty() => DoctorCheck::ok(NAME, format!("{name}: the file is sound")),
        Ok(()) => DoctorCheck::ok(NAME, format!("{name} answers: {server}")),
        Err(error) => store_failure(NAME, &error),
    });
    checks.push(match config.durability() {
        Durability::Full if server.is_empty() => DoctorCheck::ok("durability", "WAL with synchronous=FULL, read back"),
        Durability::Full => {
            DoctorCheck::ok("durability", "synchronous_commit, fsync and full_page_writes are on, read back")
        }
        Durability::Relaxed => DoctorCheck::warn(
            "durability",
            "relaxed: a power failure may undo acknowledged writes, and calls may happen twice",
            "remove `durability = \"relaxed\"`",
        ),
    });
    Some(store)
}

/// Returns the result of the check for a missing database file. Returns `None` if the file exists, or if
/// `--accept-restore` may create the lost file again.
fn check_missing_file(config: &Config, path: &Path, accept_restore: bool) -> Option<DoctorCheck> {
    let times = use_count(config);
    // `--accept-restore` accepts the loss of a database only if the database was used before.
    if path.exists() || accept_restore && times > 0 {
        return None;
    }
    if times > 0 {
        let found = format!("{} does not exist, although it was used for work {times} times", path.display());
        return Some(DoctorCheck::fail(
            NAME,
            found,
            "restore it; or, to accept its loss: latch doctor --accept-restore",
        ));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    Some(match writable(folder, "name another database with `database` or --db") {
        Ok(()) => DoctorCheck::ok(NAME, format!("{} does not exist yet; the first run creates it", path.display())),
        Err((found, fix)) => DoctorCheck::fail(NAME, found, fix),
    })
}

/// Returns the number of processes that have used the database for work. The count is in a file beside the database.
fn use_count(config: &Config) -> u64 {
    let options = open::options(config, config.database(), Arc::new(NoProbe));
    options.ok().and_then(|options| times_used(&options.owner_dir).ok()).unwrap_or_default()
}

/// Returns true if the database was used for work, even if the database no longer exists.
pub(super) fn was_used(config: &Config) -> bool {
    use_count(config) > 0
}

/// Returns true if the server can be reached and its database has no tables yet.
fn lacks_tables(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable(message) if message.ends_with(NO_TABLES))
}

/// Checks the effect store. Returns the effect store if it could be opened.
pub(super) async fn effect_store(config: &Config, url: &str, checks: &mut Vec<DoctorCheck>) -> Option<Arc<Database>> {
    const NAME: &str = "effect store";
    if let Ok(Some(why)) = open::unshared_effects(config) {
        checks.push(DoctorCheck::fail(NAME, why, format!("latch explain {}", error_docs::CONFIG_DATABASE)));
        return None;
    }
    let (displayed, whole) = match open::target(url) {
        Ok(DatabaseTarget::File(path)) if !path.exists() => {
            checks.push(DoctorCheck::ok(NAME, format!("{} does not exist yet", path.display())));
            return None;
        }
        Err(error) => {
            checks.push(DoctorCheck::fail(NAME, error.to_string(), "latch explain L0009"));
            return None;
        }
        Ok(DatabaseTarget::File(path)) => (path.display().to_string(), ": the file is sound"),
        Ok(DatabaseTarget::Server(url)) => (server_name(&url), " answers"),
    };
    match open_for_check(config, url, false).await {
        Err(error) if lacks_tables(&error) => {
            checks.push(DoctorCheck::ok(NAME, format!("{displayed} answers; {NO_TABLES}")))
        }
        Err(error) => checks.push(store_failure(NAME, &error)),
        Ok(store) => {
            checks.push(match store.check_file().await {
                Ok(()) => DoctorCheck::ok(NAME, format!("{displayed}{whole}")),
                Err(error) => store_failure(NAME, &error),
            });
            return Some(store);
        }
    }
    None
}

async fn open_for_check(config: &Config, url: &str, create: bool) -> Result<Arc<Database>, StoreError> {
    let options =
        open::options(config, url, Arc::new(NoProbe)).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    // A check only reads and must not create a database. `--accept-restore` may create a lost database file again.
    Database::open(OpenOptions { create, reads_only: !create, ..options }).await
}

pub(super) fn store_failure(name: &'static str, error: &StoreError) -> DoctorCheck {
    let code = CliError::from(error).code;
    let fix = match code {
        error_docs::DATABASE_RESTORED => {
            "find out which work this database lacks, then: latch doctor --accept-restore".to_owned()
        }
        code => format!("latch explain {code}"),
    };
    DoctorCheck::fail(name, error.to_string(), fix)
}
