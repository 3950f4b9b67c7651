//! Input files of a step, pinned by their SHA-256.

use latchwork_guest::{Error, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A file pinned by the SHA-256 of its content. The pin makes the output of a step depend on its input alone,
/// so the output can be reused.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Guest path of the file: `/data/cv.md`.
    pub path: String,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

#[derive(Deserialize)]
struct File {
    text: String,
    sha256: String,
}

impl Source {
    /// Reads the text. Fails with `INVALID_INPUT` if the content has a different SHA-256.
    pub fn read(&self) -> Result<String, Error> {
        let file: File = tools::call("File.Read", &json!({ "path": self.path }))?;
        if !file.sha256.eq_ignore_ascii_case(&self.sha256) {
            return Err(Error::invalid_input(format!(
                "{} was changed: its SHA-256 is {}, the plan has {}; if the change is intended, put the new hash into the plan",
                self.path, file.sha256, self.sha256
            )));
        }
        Ok(file.text)
    }
}
