//! Files a step reads, pinned by their hash.

use latchwork_guest::{Error, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A file, and the content it is meant to have. With it the output of a step depends on its
/// input alone, so that it may be reused.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// `/data/cv.md`
    pub path: String,
    /// Of its content, in hexadecimal.
    pub sha256: String,
}

#[derive(Deserialize)]
struct File {
    text: String,
    sha256: String,
}

impl Source {
    /// Its text.
    pub fn read(&self) -> Result<String, Error> {
        let file: File = tools::call("File.Read", &json!({ "path": self.path }))?;
        if !file.sha256.eq_ignore_ascii_case(&self.sha256) {
            return Err(Error::invalid_input(format!(
                "{} was changed: its SHA-256 is {}, the plan says {}; if the change is meant, put the new one into the plan",
                self.path, file.sha256, self.sha256
            )));
        }
        Ok(file.text)
    }
}
