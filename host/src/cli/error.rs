//! Errors of the command line. An error has a code with an explanation page, a message, a list of problems with their
//! locations, and an exit status.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_core::plan::Violation;
use latchwork_core::storage::{InboxError, StoreError, WriteError};

use crate::build::BuildError;
use crate::config;
use crate::config::{ConfigErrors, SettingSource};
use crate::engine::EngineError;
use crate::host::SubmitError;
use crate::runtime::WorkerError;

/// Exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: the command succeeded.
    Done,
    /// 1: the command, the job or the check failed.
    Failed,
    /// 2: usage, configuration or input is wrong; nothing was started.
    Usage,
    /// 3: stopped safely; a person has to act.
    ActionRequired,
}

impl Exit {
    /// Returns the exit code for the shell.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::ActionRequired => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// One of several problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliProblem {
    /// Location, such as `latch.toml:3:1: plugin[0].name` or `1:20 /steps/0/effects`. Empty if the problem has no
    /// location.
    pub location: String,
    /// Error code. A code without an explanation page is explained by the message.
    pub code: String,
    /// Description of the problem and of the expected value.
    pub message: String,
    /// The same problem as JSON.
    pub json: Value,
}

impl From<&Violation> for CliProblem {
    fn from(violation: &Violation) -> Self {
        let Violation { pointer, code, message, line, column } = violation;
        let json = json!({ "pointer": pointer, "line": line, "column": column, "code": code, "message": message });
        let (place, message) = split_location(pointer, (*line as u64, *column as u64), message);
        Self { location: place, code: (*code).to_owned(), message, json }
    }
}

/// Returns the location of a plan problem and its message without the location. In JSON the message includes
/// the location. For people the two are shown separately.
pub(super) fn split_location(pointer: &str, (line, column): (u64, u64), message: &str) -> (String, String) {
    let place = if pointer.is_empty() { "(the plan)" } else { pointer };
    let message = message.strip_prefix(&format!("line {line}, column {column}: ")).unwrap_or(message);
    (format!("{line}:{column} {place}"), message.to_owned())
}

impl From<&config::ConfigProblem> for CliProblem {
    fn from(problem: &config::ConfigProblem) -> Self {
        let config::ConfigProblem { origin, key, code, message } = problem;
        let mut json = json!({ "code": code, "message": message });
        if !key.is_empty() {
            json["key"] = json!(key);
        }
        match origin {
            SettingSource::File { path, line, column } => {
                json["file"] = json!(path.display().to_string());
                json["line"] = json!(line);
                json["column"] = json!(column);
            }
            SettingSource::WholeFile(path) => json["file"] = json!(path.display().to_string()),
            SettingSource::Environment(name) => json["environment"] = json!(name),
            SettingSource::Flag(name) => json["flag"] = json!(name),
            SettingSource::Nowhere => {}
        }
        let place = if key.is_empty() { origin.to_string() } else { format!("{origin}: {key}") };
        Self { location: place, code: (*code).to_owned(), message: message.clone(), json }
    }
}

/// Error of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// Code that `latch explain` knows.
    pub code: &'static str,
    /// Description of the problem and the next action.
    pub message: String,
    /// Individual problems, if there are several.
    pub problems: Vec<CliProblem>,
    /// Command to type next. Text output shows the command on its own line. JSON output has it at the end of the
    /// message.
    pub next_command: Option<String>,
    /// Job that the error is about.
    pub job_id: Option<JobId>,
    /// Exit status of the command.
    pub exit: Exit,
}

impl CliError {
    /// Creates an error of usage, configuration or input.
    pub fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: vec![], next_command: None, job_id: None, exit: Exit::Usage }
    }

    /// Creates the error of a failed command.
    pub fn failed(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, ..Self::input(code, message) }
    }

    /// Creates the error of an output that cannot be written. A wrong path is a usage error; everything else
    /// is a failure.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
        let is_path =
            matches!(error.kind(), NotFound | NotADirectory | IsADirectory | PermissionDenied | ReadOnlyFilesystem);
        let exit = if is_path { Exit::Usage } else { Exit::Failed };
        let code = error_docs::code_of_write_error(error.kind()).unwrap_or(error_docs::OUTPUT_UNWRITABLE);
        Self { exit, ..Self::input(code, format!("{} cannot be written: {error}", path.display())) }
    }

    /// Creates the error of a build output or a new project that cannot be written. Returns `None` if `error` has
    /// another cause.
    pub(super) fn unwritable_build(error: &BuildError) -> Option<Self> {
        let code = error.unwritable_code()?;
        let exit = if code == error_docs::FOLDER_READ_ONLY { Exit::Usage } else { Exit::Failed };
        Some(Self { exit, ..Self::input(code, error.to_string()) })
    }

    /// Creates the error of a command that stopped safely and needs a person.
    pub fn action_required(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::ActionRequired, ..Self::input(code, message) }
    }

    /// Adds problems to the error.
    pub fn with_problems(mut self, problems: impl IntoIterator<Item = CliProblem>) -> Self {
        self.problems.extend(problems);
        self
    }

    /// Adds the command to type next.
    pub fn with_next_command(self, command: impl Into<String>) -> Self {
        Self { next_command: Some(command.into()), ..self }
    }

    /// Sets the job of the error.
    pub fn for_job(self, job_id: &JobId) -> Self {
        Self { job_id: Some(job_id.clone()), ..self }
    }

    /// Returns the message and the command to type next, in one line.
    pub fn full_message(&self) -> String {
        self.next_command.as_ref().map_or_else(|| self.message.clone(), |command| format!("{} {command}", self.message))
    }

    /// Converts an error of the argument parser.
    pub fn usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let message = text.trim().strip_prefix("error: ").unwrap_or(text.trim());
        Self::input(error_docs::USAGE, message)
    }

    /// Returns the JSON document of the error.
    pub fn to_json(&self) -> Value {
        let problems: Vec<_> = self.problems.iter().map(|problem| &problem.json).collect();
        json!({ "error": { "code": self.code, "message": self.full_message(), "problems": problems } })
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.full_message())?;
        self.problems.iter().try_for_each(|p| write!(f, "\n  {}: {} [{}]", p.location, p.message, p.code))
    }
}

impl std::error::Error for CliError {}

impl From<&ConfigErrors> for CliError {
    fn from(errors: &ConfigErrors) -> Self {
        let problems = errors.0.as_slice();
        let first = problems.first().map_or(error_docs::DEFECT, |problem| problem.code);
        let message = match problems.len() {
            1 => "the configuration has a problem".to_owned(),
            n => format!("the configuration has {n} problems"),
        };
        CliError::input(first, message).with_problems(problems.iter().map(CliProblem::from))
    }
}

impl From<&StoreError> for CliError {
    fn from(error: &StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Unavailable(_) => unavailable(message),
            StoreError::Damaged(_) => CliError::failed(error_docs::DATABASE_DAMAGED, message),
            StoreError::Restored(_) => CliError::action_required(error_docs::DATABASE_RESTORED, message),
            StoreError::NotDurable(_) => CliError::input(error_docs::DATABASE_NOT_DURABLE, message),
            StoreError::ReadOnly(_) => CliError::input(error_docs::DATABASE_READ_ONLY, message),
        }
    }
}

/// Returns the error of an unavailable database.
///
/// The database engine reports the reason as text only. A full disk and a read-only folder are recognized in
/// that text and get their own codes.
fn unavailable(message: String) -> CliError {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["disk is full", "No space left on device", "quota exceeded"]) {
        return CliError::failed(error_docs::DISK_FULL, message);
    }
    if says(&["Read-only file system", "readonly database", "Permission denied (os error"]) {
        return CliError::input(error_docs::FOLDER_READ_ONLY, message);
    }
    CliError::failed(error_docs::DATABASE_UNAVAILABLE, message)
}

impl From<&InboxError> for CliError {
    fn from(error: &InboxError) -> Self {
        match error {
            InboxError::NoJob(_) => CliError::input(error_docs::NO_SUCH_JOB, error.to_string()),
            InboxError::WrongState { .. } | InboxError::NotAwaited { .. } => {
                CliError::input(error_docs::JOB_REFUSES, error.to_string())
            }
            InboxError::Store(store) => CliError::from(store),
        }
    }
}

impl From<&WriteError> for CliError {
    fn from(error: &WriteError) -> Self {
        let message = error.to_string();
        match error {
            WriteError::NoJob(_) => CliError::input(error_docs::NO_SUCH_JOB, message),
            WriteError::Unavailable(_) | WriteError::Unknown(_) => unavailable(message),
            WriteError::Damaged(_) => CliError::failed(error_docs::DATABASE_DAMAGED, message),
            WriteError::Restored(_) => CliError::action_required(error_docs::DATABASE_RESTORED, message),
            WriteError::Fenced { .. } | WriteError::NotHeld { .. } | WriteError::LeaseExpired => {
                CliError::action_required(error_docs::JOB_HELD, message)
            }
            WriteError::Cancelled | WriteError::InboxPending => CliError::failed(error_docs::JOB_REFUSES, message),
            // No command can cause the remaining errors, so they indicate a defect of the program.
            _ => CliError::failed(error_docs::DEFECT, message),
        }
    }
}

impl From<&WorkerError> for CliError {
    fn from(error: &WorkerError) -> Self {
        match error {
            WorkerError::LeaseLost(_) | WorkerError::Released(_) => {
                CliError::action_required(error_docs::JOB_HELD, error.to_string())
            }
            WorkerError::Store(store) | WorkerError::NotLoaded { why: store, .. } => CliError::from(store),
            WorkerError::NoJob(_) => CliError::input(error_docs::NO_SUCH_JOB, error.to_string()),
            WorkerError::PluginMissing { .. } => CliError::input(error_docs::PLUGIN_MISSING, error.to_string()),
            WorkerError::ParkedUnloaded { .. } => {
                CliError::action_required(error_docs::JOB_UNLOADABLE, error.to_string())
            }
            WorkerError::Broken { .. } => CliError::failed(error_docs::DEFECT, error.to_string()),
        }
    }
}

impl From<&SubmitError> for CliError {
    fn from(error: &SubmitError) -> Self {
        match error {
            SubmitError::Write(write) => CliError::from(write),
            SubmitError::OtherPlan { .. } => {
                let advice = "give the request another request_id, or use --new";
                CliError::input(error_docs::REQUEST_CONFLICT, format!("{error}; {advice}"))
            }
            SubmitError::QueueFull { .. } => {
                let advice = "`latch job list --state PENDING` shows them, `latch worker` works on them, [queue] in \
                              latch.toml sets the limit";
                CliError::failed(error_docs::QUEUE_FULL, format!("{error}; {advice}"))
            }
            SubmitError::Parameters(refused) => {
                let problems = refused.iter().map(|refused| CliProblem {
                    location: if refused.pointer.is_empty() {
                        "(the parameters)".to_owned()
                    } else {
                        refused.pointer.clone()
                    },
                    code: refused.code.to_owned(),
                    message: refused.message.clone(),
                    json: json!({ "pointer": refused.pointer, "code": refused.code, "message": refused.message }),
                });
                CliError::input(error_docs::PARAMETERS_REFUSED, error.to_string()).with_problems(problems)
            }
            SubmitError::Plugins { operator, plugins } => super::open::step_plugin_needs_all(operator, plugins),
            SubmitError::ModeNotAllowed { .. } => {
                CliError::input(error_docs::USAGE, format!("{error}: see [policy] in latch.toml"))
            }
        }
    }
}

impl From<&EngineError> for CliError {
    fn from(error: &EngineError) -> Self {
        match error {
            EngineError::Cache { .. } => CliError::input(error_docs::CONFIG_INVALID_VALUE, error.to_string()),
            EngineError::Config(_) => CliError::failed(error_docs::DEFECT, error.to_string()),
        }
    }
}

/// Converts a library error that has a code of the command line. Returns `None` for others.
fn from_library_error(cause: &(dyn std::error::Error + 'static)) -> Option<CliError> {
    fn one<'e, E>(cause: &'e (dyn std::error::Error + 'static)) -> Option<CliError>
    where
        E: std::error::Error + 'static,
        CliError: From<&'e E>,
    {
        cause.downcast_ref::<E>().map(CliError::from)
    }
    let said = cause.downcast_ref::<CliError>().cloned();
    // Some errors, such as `SubmitError`, display an inner error without naming it as their cause. A search through the
    // causes would miss the inner error. These types therefore have their own conversions.
    said.or_else(|| one::<ConfigErrors>(cause))
        .or_else(|| one::<SubmitError>(cause))
        .or_else(|| one::<WorkerError>(cause))
        .or_else(|| one::<EngineError>(cause))
        .or_else(|| one::<WriteError>(cause))
        .or_else(|| one::<InboxError>(cause))
        .or_else(|| one::<StoreError>(cause))
}

impl From<anyhow::Error> for CliError {
    /// Uses the code of the outermost library error that has a code. The context messages around this error are
    /// kept.
    fn from(error: anyhow::Error) -> Self {
        let mut around = Vec::new();
        let mut decided = None;
        for cause in error.chain() {
            decided = from_library_error(cause);
            if decided.is_some() {
                break;
            }
            around.push(cause.to_string());
        }
        match decided {
            Some(error) if around.is_empty() => error,
            Some(error) => CliError { message: format!("{}: {}", around.join(": "), error.message), ..error },
            None => CliError::failed(error_docs::DEFECT, around.join(": ")),
        }
    }
}
