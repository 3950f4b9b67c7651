//! Finds `latch.toml` and reads the whole file.

use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;
use latchwork_core::model::person::People;

use super::plugin::positive_duration;
use super::problem::{ConfigErrors, ConfigProblem, SettingSource};
use super::settings::Config;
use super::types::{CommitMode, Durability, Failover};
use crate::config::keys::ON_INDETERMINATE;
use crate::config::trust::{FoundBy, FoundConfig};
use crate::config::validator::BuiltinValidator;
use crate::config::{
    CONFIG_VARIABLE, DATABASE_VARIABLE, FILE_NAME, cache, notify, people, plugin, policy, trust, values, verifier,
    worker,
};
use crate::located_toml::{TableReader, TomlField, TomlProblems};

/// Default of `keep_undoable`, in milliseconds: 30 days. For this time, `latch plugin prune` keeps the components that
/// are needed to undo completed jobs.
const KEEP_UNDOABLE_MS: u64 = 30 * 86_400_000;

/// Inputs of [`Config::load`] that are known before a file is read.
#[derive(Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Absolute working directory of the process.
    pub cwd: &'a Path,
    /// Value of `--config`.
    pub config: Option<&'a Path>,
    /// Value of `--db`.
    pub db: Option<&'a str>,
    /// Folder of the plan. This folder and its parents are searched if the working directory contains no
    /// configuration file.
    pub plan_folder: Option<&'a Path>,
    /// Returns the value of an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

impl Config {
    /// Finds and reads the configuration.
    ///
    /// [`find`](Self::find) finds the file. Without a file every key has its default. Relative paths in the
    /// file start at the file's folder. Relative paths of `--db` and `LATCH_DATABASE` start at the working
    /// directory.
    ///
    /// # Errors
    /// Every problem of the file and of the database address.
    pub fn load(options: &LoadOptions<'_>) -> Result<Config, ConfigErrors> {
        let mut config = match locate(options) {
            Some(found) => {
                trust::check(&found, options.env)?;
                read_file(&found.path)?
            }
            None => Config::with_defaults(options.cwd),
        };
        let variable = (options.env)(DATABASE_VARIABLE).filter(|value| !value.is_empty());
        let given = match (options.db, &variable) {
            (Some(flag), _) => Some((flag, SettingSource::Flag("--db"))),
            (None, Some(variable)) => Some((variable.as_str(), SettingSource::Environment(DATABASE_VARIABLE))),
            (None, None) => None,
        };
        if let Some((text, origin)) = given {
            config.database = values::database_url(text, options.cwd).map_err(|message| {
                let (origin, code) = (origin.clone(), error_docs::CONFIG_DATABASE);
                ConfigErrors(vec![ConfigProblem { origin, key: String::new(), code, message }])
            })?;
            config.database_source = Some(origin);
        }
        let cache = cache::cache_dirs(options.env, &config.root).map_err(|problem| ConfigErrors(vec![problem]))?;
        if let Some(cache::CacheDirs { code, secret }) = cache {
            (config.cache_dir, config.cache_secret_dir) = (Some(code), secret);
        }
        config.tools_dirs = cache::tools_dirs(options.env, options.cwd);
        config.user_dirs = cache::user_dirs(options.env);
        Ok(config)
    }

    /// Finds the configuration file. The first line of this list that yields a file decides. A file that `--config` or
    /// `LATCH_CONFIG` names need not exist.
    ///
    /// 1. The file that `--config` names.
    /// 2. The file that `LATCH_CONFIG` names.
    /// 3. `latch.toml` in the working directory.
    /// 4. The nearest `latch.toml` at or above [`plan_folder`](LoadOptions::plan_folder).
    /// 5. The nearest `latch.toml` above the working directory.
    ///
    /// [`load`](Self::load) refuses a file of lines 3 to 5 in two cases: the file lies above the folder where the
    /// search began, or another user owns the file. If the variable `LATCH_TRUST_CONFIG` has the value `1`, `load`
    /// accepts the file in both cases.
    pub fn find(options: &LoadOptions<'_>) -> Option<PathBuf> {
        locate(options).map(|found| found.path)
    }

    /// Returns the configuration in which every setting has its default.
    pub fn with_defaults(root: &Path) -> Config {
        Config {
            root: root.to_owned(),
            file: None,
            database: values::database_url("sqlite://latch.db", root)
                .unwrap_or_else(|_| "sqlite://latch.db".to_owned()),
            database_source: None,
            commit: CommitMode::default(),
            effect_store: None,
            durability: Durability::default(),
            failover: Failover::default(),
            on_indeterminate: Default::default(),
            lease_ms: 15_000,
            heartbeat_ms: 5_000,
            clock_margin_ms: 2_000,
            max_attempts_without_progress: 5,
            cache_dir: None,
            cache_secret_dir: None,
            tools_dirs: vec![],
            user_dirs: vec![],
            state_dir: root.join(".latch"),
            keep_undoable_ms: KEEP_UNDOABLE_MS,
            policy: policy::read(None),
            people: People::default(),
            confirmation: Default::default(),
            validators: vec![],
            notify: None,
            worker: Default::default(),
            queue: Default::default(),
            plugins: vec![],
        }
    }
}

/// Finds the configuration file. Returns its path and the way in which it was found.
fn locate(options: &LoadOptions<'_>) -> Option<FoundConfig> {
    let variable = (options.env)(CONFIG_VARIABLE).filter(|value| !value.is_empty());
    if let Some(named) = options.config.or(variable.as_deref().map(Path::new)) {
        return Some(FoundConfig { path: values::absolute(options.cwd, named), by: FoundBy::Name });
    }
    let here = options.cwd.join(FILE_NAME);
    if here.is_file() {
        return Some(FoundConfig { path: here, by: FoundBy::Folder });
    }
    let near = options.plan_folder.map(|near| values::absolute(options.cwd, near));
    near.as_deref().and_then(nearest).or_else(|| nearest(options.cwd))
}

/// Returns the nearest configuration file at or above `folder`.
fn nearest(folder: &Path) -> Option<FoundConfig> {
    let folders = folder.ancestors();
    let path = folders.map(|folder| folder.join(FILE_NAME)).find(|file| file.is_file())?;
    let by = if path.parent() == Some(folder) { FoundBy::Folder } else { FoundBy::SearchAbove(folder.to_owned()) };
    Some(FoundConfig { path, by })
}

fn read_file(path: &Path) -> Result<Config, ConfigErrors> {
    let whole = |code, message| {
        let origin = SettingSource::WholeFile(path.to_owned());
        ConfigErrors(vec![ConfigProblem { origin, key: String::new(), code, message }])
    };
    let bytes = std::fs::read(path)
        .map_err(|error| whole(error_docs::CONFIG_UNREADABLE, format!("the file cannot be read: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| whole(error_docs::CONFIG_UNREADABLE, "the file is not UTF-8 text".to_owned()))?;
    read_text(path, &text)
}

fn read_text(path: &Path, text: &str) -> Result<Config, ConfigErrors> {
    let problems = TomlProblems::new(text);
    let document = problems.parse();
    // After a syntax error, the parser only guesses the rest of the document. Problems found there could be wrong,
    // so they are not reported.
    if !problems.is_empty() {
        return Err(in_file(path, problems));
    }
    let root = path.parent().expect("the path of a file has a folder");
    let mut config = Config::with_defaults(root);
    config.file = Some(path.to_owned());
    read_top(TableReader::root(&problems, &document), &mut config);
    if problems.is_empty() { Ok(config) } else { Err(in_file(path, problems)) }
}

/// Returns the problems of a file in the order of the file.
fn in_file(path: &Path, problems: TomlProblems<'_>) -> ConfigErrors {
    let mut problems: Vec<_> =
        problems.into_list().into_iter().map(|problem| ConfigProblem::in_file(path, problem)).collect();
    problems.sort_by(|a, b| (&a.origin, &a.key).cmp(&(&b.origin, &b.key)));
    ConfigErrors(problems)
}

fn read_top(mut top: TableReader<'_>, config: &mut Config) {
    let root = config.root.clone();
    let database = |field: TomlField<'_>| match values::database_url(field.string()?, &root) {
        Ok(url) if values::has_password(&url) => {
            let message = "a database URL in this file must not contain a password: put the URL into LATCH_DATABASE, \
                           or the password into PGPASSWORD or ~/.pgpass";
            field.problem(error_docs::CONFIG_DATABASE, message.to_owned());
            None
        }
        Ok(url) => Some(url),
        Err(message) => {
            field.problem(error_docs::CONFIG_DATABASE, message);
            None
        }
    };
    set_if_some(&mut config.database, top.get("database").and_then(database));
    set_if_some(
        &mut config.commit,
        top.get("commit").and_then(|f| f.choice(&[("atomic", CommitMode::Atomic), ("staged", CommitMode::Staged)])),
    );
    if let Some(field) = top.get("effect_store") {
        if config.commit == CommitMode::Atomic {
            field.invalid::<()>("a separate effect store requires `commit = \"staged\"`");
        }
        config.effect_store = database(field);
    }
    let durability = [("full", Durability::Full), ("relaxed", Durability::Relaxed)];
    set_if_some(&mut config.durability, top.get("durability").and_then(|f| f.choice(&durability)));
    let failover = [("synchronous", Failover::Synchronous)];
    set_if_some(&mut config.failover, top.get("failover").and_then(|f| f.choice(&failover)));
    set_if_some(&mut config.on_indeterminate, top.get("on_indeterminate").and_then(|f| f.choice(&ON_INDETERMINATE)));
    set_if_some(&mut config.confirmation, verifier::confirmation(&mut top));
    lease_times(&mut top, config);
    let attempts = top.get("max_attempts_without_progress").and_then(|f| f.integer(1..=1_000));
    set_if_some(&mut config.max_attempts_without_progress, attempts.map(|n| n as u32));
    set_if_some(
        &mut config.state_dir,
        top.get("state_dir").and_then(|f| f.string()).map(|path| values::absolute(&root, path)),
    );
    set_if_some(&mut config.keep_undoable_ms, top.get("keep_undoable").and_then(|f| f.parse(values::long_duration_ms)));
    if let Some(mut table) = top.get("validators").and_then(|field| field.table()) {
        let run = table.get("run").map(|list| list.list(|field| field.choice(&BuiltinValidator::NAMES)));
        config.validators = run.unwrap_or_default();
        table.finish();
    }
    config.notify = top.get("notify").and_then(|field| field.table()).and_then(notify::read);
    config.policy = policy::read(top.get("policy").and_then(|field| field.table()));
    config.people = people::read(top.get("people").and_then(|field| field.table()));
    config.worker = worker::read(top.get("worker").and_then(|field| field.table()));
    config.queue = worker::queue(top.get("queue").and_then(|field| field.table()));
    config.plugins = plugin::read(top.get("plugin"), &root);
    top.finish();
}

/// Reads lease, heartbeat and clock margin, and checks that the heartbeat interval is at most half of the
/// lease.
fn lease_times(top: &mut TableReader<'_>, config: &mut Config) {
    let fields = [top.get("lease"), top.get("heartbeat"), top.get("clock_margin")];
    let [lease, heartbeat, margin] = fields.each_ref().map(|f| f.as_ref().and_then(|f| f.parse(positive_duration)));
    set_if_some(&mut config.lease_ms, lease);
    set_if_some(&mut config.clock_margin_ms, margin);
    // If the default interval is longer than a third of the lease, it is shortened to that third.
    config.heartbeat_ms = heartbeat.unwrap_or(config.heartbeat_ms.min(config.lease_ms / 3).max(1));
    if config.heartbeat_ms > config.lease_ms / 2
        && let Some(field) = fields[1].as_ref().or(fields[0].as_ref())
    {
        field.invalid::<()>(format!(
            "a heartbeat every {} ms is too slow for a lease of {} ms: use at most half of the lease",
            config.heartbeat_ms, config.lease_ms
        ));
    }
}

fn set_if_some<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
