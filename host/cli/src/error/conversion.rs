//! Conversion of library errors into errors of the command line.

use serde_json::json;

use latchwork::config::ConfigErrors;
use latchwork::host::SubmitError;
use latchwork::runtime::WorkerError;
use latchwork_core::model::error_docs;
use latchwork_core::storage::{InboxError, StoreError, WriteError};
use latchwork_engine::EngineError;

use crate::error::cli_error::CliError;
use crate::error::problem::CliProblem;
use crate::error::unloaded_plugins::step_plugin_needs_all;

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
/// The database engine reports the reason only as text. A full disk and a read-only folder are recognized by this text
/// and have their own codes.
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
            // The remaining errors indicate a defect of the program, because no command can cause them.
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
            SubmitError::Plugins { operator, plugins } => step_plugin_needs_all(operator, plugins),
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

/// Converts a library error that has a code of the command line. Returns `None` for other errors.
fn from_library_error(cause: &(dyn std::error::Error + 'static)) -> Option<CliError> {
    fn one<'e, E>(cause: &'e (dyn std::error::Error + 'static)) -> Option<CliError>
    where
        E: std::error::Error + 'static,
        CliError: From<&'e E>,
    {
        cause.downcast_ref::<E>().map(CliError::from)
    }
    let reported = cause.downcast_ref::<CliError>().cloned();
    // These types need their own conversions. Some errors, such as `SubmitError`, display an inner error but do not
    // return it as their cause. A search through the causes would miss the inner error.
    reported
        .or_else(|| one::<ConfigErrors>(cause))
        .or_else(|| one::<SubmitError>(cause))
        .or_else(|| one::<WorkerError>(cause))
        .or_else(|| one::<EngineError>(cause))
        .or_else(|| one::<WriteError>(cause))
        .or_else(|| one::<InboxError>(cause))
        .or_else(|| one::<StoreError>(cause))
}

impl From<anyhow::Error> for CliError {
    /// Uses the code of the outermost library error that has a code. Keeps the context messages around this error.
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
