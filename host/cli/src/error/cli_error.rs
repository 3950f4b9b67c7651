//! Error of a command: code, message, problems, next command and exit status.

use std::fmt;
use std::path::Path;

use serde_json::{Value, json};

use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_tooling::build::BuildError;

use crate::error::exit::Exit;
use crate::error::problem::CliProblem;

/// Error of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// Code that `latch explain` knows.
    pub code: &'static str,
    /// Description of the problem and the next action.
    pub message: String,
    /// Individual problems, if there are several.
    pub problems: Vec<CliProblem>,
    /// Command to type next. Text output shows the command on its own line. JSON output appends it to the message.
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

    /// Creates the error of an output that cannot be written. A wrong path is a usage error. Every other cause is a
    /// failure.
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
    pub(crate) fn unwritable_build(error: &BuildError) -> Option<Self> {
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
