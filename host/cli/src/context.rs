//! Context that every command receives.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use latchwork::config::{Config, ConfigErrors, Durability, LoadOptions};
use latchwork_core::model::error_docs;
use latchwork_core::response::shell_quoted;
use latchwork_engine::capability::config_line::{config_line, origin_text};

use crate::args::{Global, LogFormat};
use crate::output::Printer;
use crate::session::Session;
use crate::text::Text;

/// Global flags, working directory, printer, and the state of the command.
pub struct CommandContext<'p> {
    /// Printer for answers, progress and questions.
    pub printer: &'p Printer,
    /// True if the answer is JSON.
    pub json: bool,
    /// The working directory.
    pub cwd: PathBuf,
    session: Session,
    config: Option<PathBuf>,
    /// Configuration file that the user accepted when asked.
    trusted_config: OnceLock<PathBuf>,
    db: Option<String>,
    log_format: LogFormat,
    verbose: u8,
    /// Configuration file in use. Set only if a later command needs `--config` to find this file.
    explicit_config: OnceLock<PathBuf>,
    /// True if `durability = "relaxed"` is configured. A power failure may then undo acknowledged writes.
    relaxed: OnceLock<bool>,
    immediate_exit: AtomicBool,
}

impl<'p> CommandContext<'p> {
    pub(crate) fn new(global: Global, printer: &'p Printer) -> anyhow::Result<Self> {
        let cwd = std::env::current_dir().context("the working directory no longer exists")?;
        Ok(Self {
            printer,
            json: global.json,
            cwd,
            session: Session::new(printer),
            config: global.config,
            trusted_config: OnceLock::new(),
            db: global.db,
            log_format: global.log_format,
            verbose: global.verbose,
            explicit_config: OnceLock::new(),
            relaxed: OnceLock::new(),
            immediate_exit: AtomicBool::new(false),
        })
    }

    /// State of the command: clock, entropy, opened databases and owner lock.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Loads the configuration. `near` is the folder of the plan, if there is one.
    pub fn config(&self, near: Option<&Path>) -> Result<Config, ConfigErrors> {
        let options = LoadOptions {
            cwd: &self.cwd,
            config: self.config.as_deref().or(self.trusted_config.get().map(PathBuf::as_path)),
            db: self.db.as_deref(),
            plan_folder: near,
            env: &|name| std::env::var(name).ok(),
        };
        let config = match Config::load(&options) {
            Err(errors) if errors.0.iter().any(|problem| problem.code == error_docs::CONFIG_UNTRUSTED) => {
                self.ask_for_trust(&options, errors)?
            }
            loaded => loaded?,
        };
        let unaided = Config::find(&LoadOptions { config: None, plan_folder: None, ..options });
        if let Some(file) = config.file()
            && (self.config.is_some() || unaided.as_deref() != Some(file) || file.parent() != Some(&*self.cwd))
        {
            self.explicit_config.get_or_init(|| file.to_owned());
        }
        // Adds the absolute path of the configuration to the commands of a notice, because a user may run them in another
        // folder.
        let named = self.explicit_config.get().map(|file| self.cwd.join(file));
        let flags = [("config", named.map(|file| file.display().to_string())), ("db", self.db.clone())];
        let given = flags.into_iter().filter_map(|(name, value)| Some(format!(" --{name} {}", shell_quoted(&value?))));
        let config = config.with_notice_flags(given.collect::<String>());
        self.relaxed.get_or_init(|| config.durability() == Durability::Relaxed);
        Ok(config)
    }

    /// Asks on the terminal whether to use a configuration that the user did not name. The question shows what the file
    /// grants.
    ///
    /// # Errors
    /// `refused`, if there is no terminal or the answer is not yes.
    fn ask_for_trust(&self, options: &LoadOptions<'_>, refused: ConfigErrors) -> Result<Config, ConfigErrors> {
        let Some(file) = Config::find(options).filter(|_| self.printer.can_ask()) else { return Err(refused) };
        let config = Config::load(&LoadOptions { config: Some(&file), ..*options })?;
        self.printer.warn(refused.to_string());
        self.printer.note(match config.database().strip_prefix("sqlite://") {
            Some(file) => format!("database {file}"),
            None => latchwork_store::server_name(config.database()),
        });
        if let Some(notify) = config.notify() {
            let secrets: Vec<_> = notify.headers.iter().flat_map(|header| header.secrets()).collect();
            let secrets = if secrets.is_empty() { "no secrets".to_owned() } else { secrets.join(", ") };
            self.printer.note(format!("notices to {}, with {secrets}", origin_text(&notify.origin)));
        }
        for plugin in config.plugins() {
            let (source, grants) = (plugin.source.display(), config_line(&plugin.grants));
            self.printer.note(format!("plugin {} from {source}: {grants}", plugin.name));
        }
        let question = self.printer.ask("use this configuration? [y]es, anything else: no");
        let answer = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(question));
        match answer.as_deref().map(str::trim) {
            Some("y" | "yes") => {
                self.trusted_config.get_or_init(|| file);
                Ok(config)
            }
            _ => Err(refused),
        }
    }

    /// Returns true if `durability = "relaxed"` is configured. Every response then names this setting.
    pub fn is_relaxed(&self) -> bool {
        self.relaxed.get().copied().unwrap_or(false)
    }

    /// Requests an immediate end of the process, for example after a second ctrl-c or while the database is
    /// unreachable. The process then waits only briefly for the stores to close.
    pub(crate) fn request_immediate_exit(&self) {
        self.immediate_exit.store(true, Ordering::Relaxed);
    }

    /// Returns true if [`request_immediate_exit`](Self::request_immediate_exit) was called.
    pub(crate) fn exits_immediately(&self) -> bool {
        self.immediate_exit.load(Ordering::Relaxed)
    }

    /// Returns the `--config` flag that was given or accepted, for a child process that reads the same configuration.
    pub(crate) fn config_flag(&self) -> Vec<String> {
        let flag = |file: &PathBuf| vec!["--config".to_owned(), file.display().to_string()];
        self.config.as_ref().or(self.trusted_config.get()).map(flag).unwrap_or_default()
    }

    /// Returns the given `--db` flag, for a child process that uses the same database.
    pub(crate) fn database_flag(&self) -> Vec<String> {
        self.db.as_ref().map(|url| vec!["--db".to_owned(), url.clone()]).unwrap_or_default()
    }

    /// Returns the logging flags, for a child process that writes to the same stderr.
    pub(crate) fn log_flags(&self) -> Vec<String> {
        let json = (self.log_format == LogFormat::Json).then(|| ["--log-format", "json"].map(str::to_owned));
        let verbose = (0..self.verbose).map(|_| "-v".to_owned());
        json.into_iter().flatten().chain(verbose).collect()
    }

    /// Returns true if `--config` was given.
    pub fn names_config(&self) -> bool {
        self.config.is_some()
    }

    /// Returns `command` with the `--config` and `--db` flags that make it use the same project and database.
    pub fn with_project_flags(&self, command: &str) -> String {
        let mut command = command.to_owned();
        if let Some(file) = self.explicit_config.get() {
            let file = file.strip_prefix(&self.cwd).unwrap_or(file);
            command += &format!(" --config {}", shell_quoted(&file.display().to_string()));
        }
        if let Some(db) = &self.db {
            command += &format!(" --db {}", shell_quoted(db));
        }
        command
    }

    /// Applies [`with_project_flags`](Self::with_project_flags) to each command in backquotes that uses the project.
    pub(crate) fn add_flags_to_commands(&self, text: &str) -> String {
        const ABOUT_PROJECT: [&str; 7] = ["run", "resume", "worker", "job", "plan", "plugin", "doctor"];
        let is_command = |part: &str| {
            let verb = part.strip_prefix("latch ").and_then(|rest| rest.split_whitespace().next());
            verb.is_some_and(|verb| ABOUT_PROJECT.contains(&verb))
                && !part.contains("--config")
                && !part.contains("--db")
        };
        let parts = text.split('`').enumerate().map(|(number, part)| match number % 2 == 1 && is_command(part) {
            true => self.with_project_flags(part),
            false => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// Returns the actor of the request: the given name, else the user of the operating system.
    pub fn actor(&self, given: Option<&str>) -> String {
        let named = |name| std::env::var(name).ok().filter(|user| !user.is_empty());
        given
            .map(str::to_owned)
            .or_else(|| named("USER"))
            .or_else(|| named("LOGNAME"))
            .unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()))
    }

    /// Prints the whole answer: the document with `--json`, else the text.
    pub fn answer<T: Into<Text>>(&self, document: &serde_json::Value, text: impl FnOnce() -> T) {
        if self.json {
            self.printer.document(document);
        } else {
            self.printer.print_text(text());
        }
    }
}
