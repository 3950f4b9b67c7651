//! One of several problems of an error, with its location.

use serde_json::{Value, json};

use latchwork::config;
use latchwork::config::SettingSource;
use latchwork_core::plan::Violation;

/// One of several problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliProblem {
    /// Location, such as `latch.toml:3:1: plugin[0].name` or `1:20 /steps/0/effects`. Empty if the problem has no
    /// location.
    pub location: String,
    /// Error code. For a code without an explanation page, the message explains the problem.
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

/// Returns the location of a plan problem and its message without the location. JSON messages include the location.
/// Text for people shows the two separately.
pub(crate) fn split_location(pointer: &str, (line, column): (u64, u64), message: &str) -> (String, String) {
    let place = if pointer.is_empty() { "(the plan)" } else { pointer };
    let message = message.strip_prefix(&format!("line {line}, column {column}: ")).unwrap_or(message);
    (format!("{line}:{column} {place}"), message.to_owned())
}
