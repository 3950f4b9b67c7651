//! Errors as the command line shows them: a code with a page, a sentence, every problem with
//! its place, and an exit code.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use latchwork_core::ids::JobId;
use latchwork_core::pages;
use latchwork_core::plan::Violation;
use latchwork_core::storage::{InboxError, StoreError, WriteError};
use serde_json::{Value, json};

use crate::build::BuildError;
use crate::config::{self, ConfigErrors, Origin};
use crate::engine::EngineError;
use crate::host::SubmitError;
use crate::worker::WorkerError;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: what was asked for is done.
    Done,
    /// 1: what was asked for failed: a job, a check.
    Failed,
    /// 2: usage, configuration or input is wrong; nothing was started.
    Usage,
    /// 3: it stopped safely and needs someone.
    NeedsSomeone,
}

impl Exit {
    /// The number a shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NeedsSomeone => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// One of several things that are wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `latch.toml:3:1: plugin[0].name`, `/steps/0/effects`; empty where nowhere.
    pub place: String,
    /// Its code: one with a page, or one that the message explains.
    pub code: String,
    /// What is wrong and what would be right.
    pub message: String,
    /// The same for programs.
    pub json: Value,
}

impl From<&Violation> for Problem {
    fn from(violation: &Violation) -> Self {
        let Violation { pointer, code, message, line, column } = violation;
        let json = json!({ "pointer": pointer, "line": line, "column": column, "code": code, "message": message });
        let (place, message) = located(pointer, (*line as u64, *column as u64), message);
        Self { place, code: (*code).to_owned(), message, json }
    }
}

/// The place of a problem of a plan, and its message without the place: programs have it in one, people read both.
pub(super) fn located(pointer: &str, (line, column): (u64, u64), message: &str) -> (String, String) {
    let place = if pointer.is_empty() { "(the plan)" } else { pointer };
    let message = message.strip_prefix(&format!("line {line}, column {column}: ")).unwrap_or(message);
    (format!("{line}:{column} {place}"), message.to_owned())
}

impl From<&config::Problem> for Problem {
    fn from(problem: &config::Problem) -> Self {
        let config::Problem { origin, key, code, message } = problem;
        let mut json = json!({ "code": code, "message": message });
        if !key.is_empty() {
            json["key"] = json!(key);
        }
        match origin {
            Origin::File { path, line, column } => {
                json["file"] = json!(path.display().to_string());
                json["line"] = json!(line);
                json["column"] = json!(column);
            }
            Origin::WholeFile(path) => json["file"] = json!(path.display().to_string()),
            Origin::Environment(name) => json["environment"] = json!(name),
            Origin::Flag(name) => json["flag"] = json!(name),
            Origin::Nowhere => {}
        }
        let place = if key.is_empty() { origin.to_string() } else { format!("{origin}: {key}") };
        Self { place, code: (*code).to_owned(), message: message.clone(), json }
    }
}

/// An error of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// A code that `latch explain` knows.
    pub code: &'static str,
    /// What happened and what to do next.
    pub message: String,
    /// Every single problem, where there are several.
    pub problems: Vec<Problem>,
    /// What to type next: shown on a line of its own, and last in the message for programs.
    pub to_type: Option<String>,
    /// The job that it is about.
    pub job_id: Option<JobId>,
    /// How the command ends.
    pub exit: Exit,
}

impl CliError {
    /// An error of usage, configuration or input.
    pub fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: vec![], to_type: None, job_id: None, exit: Exit::Usage }
    }

    /// What was asked for failed.
    pub fn failed(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, ..Self::input(code, message) }
    }

    /// What was to be written there is not: a wrong path is an error of usage, all else a failure.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
        let is_path =
            matches!(error.kind(), NotFound | NotADirectory | IsADirectory | PermissionDenied | ReadOnlyFilesystem);
        let exit = if is_path { Exit::Usage } else { Exit::Failed };
        let code = pages::of_unwritable(error.kind()).unwrap_or(pages::OUTPUT_UNWRITABLE);
        Self { exit, ..Self::input(code, format!("{} cannot be written: {error}", path.display())) }
    }

    /// The same of a build or of a new project; none where it failed for another reason.
    pub(super) fn unwritten(error: &BuildError) -> Option<Self> {
        let code = error.unwritable()?;
        let exit = if code == pages::FOLDER_READ_ONLY { Exit::Usage } else { Exit::Failed };
        Some(Self { exit, ..Self::input(code, error.to_string()) })
    }

    /// It stopped safely and needs someone.
    pub fn needs_someone(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::NeedsSomeone, ..Self::input(code, message) }
    }

    /// The same with every problem listed.
    pub fn with(mut self, problems: impl IntoIterator<Item = Problem>) -> Self {
        self.problems.extend(problems);
        self
    }

    /// The same with what to type next.
    pub fn to_type(self, command: impl Into<String>) -> Self {
        Self { to_type: Some(command.into()), ..self }
    }

    /// The same about a job.
    pub fn of_job(self, job_id: &JobId) -> Self {
        Self { job_id: Some(job_id.clone()), ..self }
    }

    /// The message in one line, with what to type next.
    pub fn whole_message(&self) -> String {
        self.to_type.as_ref().map_or_else(|| self.message.clone(), |command| format!("{} {command}", self.message))
    }

    /// What the parser of the command line did not understand.
    pub fn usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let message = text.trim().strip_prefix("error: ").unwrap_or(text.trim());
        Self::input(pages::USAGE, message)
    }

    /// The document of `--json`.
    pub fn to_json(&self) -> Value {
        let problems: Vec<_> = self.problems.iter().map(|problem| &problem.json).collect();
        json!({ "error": { "code": self.code, "message": self.whole_message(), "problems": problems } })
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.whole_message())?;
        self.problems.iter().try_for_each(|p| write!(f, "\n  {}: {} [{}]", p.place, p.message, p.code))
    }
}

impl std::error::Error for CliError {}

impl From<&ConfigErrors> for CliError {
    fn from(errors: &ConfigErrors) -> Self {
        let problems = errors.0.as_slice();
        let first = problems.first().map_or(pages::DEFECT, |problem| problem.code);
        let message = match problems.len() {
            1 => "the configuration has a problem".to_owned(),
            n => format!("the configuration has {n} problems"),
        };
        CliError::input(first, message).with(problems.iter().map(Problem::from))
    }
}

impl From<&StoreError> for CliError {
    fn from(error: &StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Unavailable(_) => unavailable(message),
            StoreError::Damaged(_) => CliError::failed(pages::DATABASE_DAMAGED, message),
            StoreError::Restored(_) => CliError::needs_someone(pages::DATABASE_RESTORED, message),
            StoreError::NotDurable(_) => CliError::input(pages::DATABASE_NOT_DURABLE, message),
            StoreError::ReadOnly(_) => CliError::input(pages::DATABASE_READ_ONLY, message),
        }
    }
}

/// A database that cannot be used now. Its engine gives the reason in words of its own: those of a full disk and of a
/// folder that may not be written have codes of their own.
fn unavailable(message: String) -> CliError {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["disk is full", "No space left on device", "quota exceeded"]) {
        return CliError::failed(pages::DISK_FULL, message);
    }
    if says(&["Read-only file system", "readonly database", "Permission denied (os error"]) {
        return CliError::input(pages::FOLDER_READ_ONLY, message);
    }
    CliError::failed(pages::DATABASE_UNAVAILABLE, message)
}

impl From<&InboxError> for CliError {
    fn from(error: &InboxError) -> Self {
        match error {
            InboxError::NoJob(_) => CliError::input(pages::NO_SUCH_JOB, error.to_string()),
            InboxError::Over { .. } | InboxError::NotAwaited { .. } => {
                CliError::input(pages::JOB_REFUSES, error.to_string())
            }
            InboxError::Store(store) => CliError::from(store),
        }
    }
}

impl From<&WriteError> for CliError {
    fn from(error: &WriteError) -> Self {
        let message = error.to_string();
        match error {
            WriteError::NoJob(_) => CliError::input(pages::NO_SUCH_JOB, message),
            WriteError::Unavailable(_) | WriteError::Unknown(_) => unavailable(message),
            WriteError::Damaged(_) => CliError::failed(pages::DATABASE_DAMAGED, message),
            WriteError::Restored(_) => CliError::needs_someone(pages::DATABASE_RESTORED, message),
            WriteError::Fenced { .. } | WriteError::NotHeld { .. } | WriteError::LeaseExpired => {
                CliError::needs_someone(pages::JOB_HELD, message)
            }
            WriteError::Cancelled | WriteError::InboxPending => CliError::failed(pages::JOB_REFUSES, message),
            // Answers to questions that no command asks.
            _ => CliError::failed(pages::DEFECT, message),
        }
    }
}

impl From<&WorkerError> for CliError {
    fn from(error: &WorkerError) -> Self {
        match error {
            WorkerError::Lost(_) | WorkerError::Released(_) => {
                CliError::needs_someone(pages::JOB_HELD, error.to_string())
            }
            WorkerError::Store(store) | WorkerError::NotLoaded { why: store, .. } => CliError::from(store),
            WorkerError::NoJob(_) => CliError::input(pages::NO_SUCH_JOB, error.to_string()),
            WorkerError::PluginMissing { .. } => CliError::input(pages::PLUGIN_MISSING, error.to_string()),
            WorkerError::Unread { .. } => CliError::needs_someone(pages::JOB_UNREAD, error.to_string()),
            WorkerError::Broken { .. } => CliError::failed(pages::DEFECT, error.to_string()),
        }
    }
}

impl From<&SubmitError> for CliError {
    fn from(error: &SubmitError) -> Self {
        match error {
            SubmitError::Write(write) => CliError::from(write),
            SubmitError::OtherPlan { .. } => {
                let advice = "give the request another request_id, or use --new";
                CliError::input(pages::REQUEST_CONFLICT, format!("{error}; {advice}"))
            }
            SubmitError::QueueFull { .. } => {
                let advice = "`latch job list --state PENDING` shows them, `latch worker` works on them, [queue] in \
                              latch.toml sets the limit";
                CliError::failed(pages::QUEUE_FULL, format!("{error}; {advice}"))
            }
            SubmitError::Parameters(refused) => {
                let problems = refused.iter().map(|refused| Problem {
                    place: if refused.pointer.is_empty() {
                        "(the parameters)".to_owned()
                    } else {
                        refused.pointer.clone()
                    },
                    code: refused.code.to_owned(),
                    message: refused.message.clone(),
                    json: json!({ "pointer": refused.pointer, "code": refused.code, "message": refused.message }),
                });
                CliError::input(pages::PARAMETERS_REFUSED, error.to_string()).with(problems)
            }
            SubmitError::Plugins { operator, plugins } => super::open::lacking(operator, plugins),
            SubmitError::ModeNotAllowed { .. } => {
                CliError::input(pages::USAGE, format!("{error}: see [policy] in latch.toml"))
            }
        }
    }
}

impl From<&EngineError> for CliError {
    fn from(error: &EngineError) -> Self {
        match error {
            EngineError::Cache { .. } => CliError::input(pages::CONFIG_INVALID_VALUE, error.to_string()),
            EngineError::Config(_) => CliError::failed(pages::DEFECT, error.to_string()),
        }
    }
}

/// An error of a library in the command line's terms, where it is one that has some.
fn known(cause: &(dyn std::error::Error + 'static)) -> Option<CliError> {
    fn one<'e, E>(cause: &'e (dyn std::error::Error + 'static)) -> Option<CliError>
    where
        E: std::error::Error + 'static,
        CliError: From<&'e E>,
    {
        cause.downcast_ref::<E>().map(CliError::from)
    }
    let said = cause.downcast_ref::<CliError>().cloned();
    // Those that hold another one of these first: some show themselves as what they hold, and
    // then it is no cause of its own.
    said.or_else(|| one::<ConfigErrors>(cause))
        .or_else(|| one::<SubmitError>(cause))
        .or_else(|| one::<WorkerError>(cause))
        .or_else(|| one::<EngineError>(cause))
        .or_else(|| one::<WriteError>(cause))
        .or_else(|| one::<InboxError>(cause))
        .or_else(|| one::<StoreError>(cause))
}

impl From<anyhow::Error> for CliError {
    /// Libraries have errors of their own; here each gets its code. The outermost known one
    /// decides, what was said around it is kept.
    fn from(error: anyhow::Error) -> Self {
        let mut around = Vec::new();
        let mut decided = None;
        for cause in error.chain() {
            decided = known(cause);
            if decided.is_some() {
                break;
            }
            around.push(cause.to_string());
        }
        match decided {
            Some(error) if around.is_empty() => error,
            Some(error) => CliError { message: format!("{}: {}", around.join(": "), error.message), ..error },
            None => CliError::failed(pages::DEFECT, around.join(": ")),
        }
    }
}
