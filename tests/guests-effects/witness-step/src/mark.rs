//! Step that returns the version mark of its component.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Answers, Script};

/// Version mark. Tests replace the last word of the mark in the built component. The changed component is another
/// version with another digest.
const MARK: &str = "these answers were asked for and put together by the version of this component called one";

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Marked {
    mark: String,
    #[serde(flatten)]
    answers: Answers,
}

pub(super) fn run(script: Script, context: &step::Context) -> Result<Marked, Error> {
    Ok(Marked { answers: super::run(script, context)?, mark: MARK.to_owned() })
}
