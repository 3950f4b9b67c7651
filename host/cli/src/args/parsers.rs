//! Parsers of argument values.

use std::path::PathBuf;
use std::time::Duration;

use latchwork::config::is_valid_name;
use latchwork_core::model::ids::{Hash, JobId, Slot, StepId};
use latchwork_core::model::job::JobState;

pub(crate) fn step_id(text: &str) -> Result<StepId, String> {
    if StepId::is_valid(text) {
        return Ok(StepId::new(text));
    }
    Err("a step id has 1 to 64 letters, digits, `_` or `-`".into())
}

pub(crate) fn step_file(text: &str) -> Result<(StepId, PathBuf), String> {
    let (step, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or("write STEP=FILE")?;
    Ok((step_id(step)?, PathBuf::from(file)))
}

pub(crate) fn named_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn slot(text: &str) -> Result<Slot, String> {
    let base = text.strip_suffix("~c").unwrap_or(text);
    let (step, call) = base.split_once('/').map_or((base, None), |(step, call)| (step, Some(call)));
    let call_is_number = call.is_none_or(|call| !call.is_empty() && call.bytes().all(|b| b.is_ascii_digit()));
    if StepId::is_valid(step) && call_is_number {
        return Ok(Slot::new(text));
    }
    Err("a slot is a step id, or a step id and a call number, such as `s6` or `s3/0`".into())
}

pub(crate) fn hash(text: &str) -> Result<Hash, String> {
    Hash::from_hex(text).ok_or_else(|| "a hash is 64 hexadecimal digits".into())
}

pub(crate) fn job_id(text: &str) -> Result<JobId, String> {
    let known = text
        .strip_prefix("job_")
        .is_some_and(|ulid| !ulid.is_empty() && ulid.bytes().all(|b| b.is_ascii_alphanumeric()));
    if known { Ok(JobId::new(text)) } else { Err("a job id is `job_` followed by letters and digits".into()) }
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "write a number and a unit, such as 30s, 5m or 1h30m".into())
}

pub(crate) fn correlation_key(text: &str) -> Result<String, String> {
    if latchwork_core::plan::wait::is_correlation_key(text) {
        return Ok(text.to_owned());
    }
    Err("a correlation key is 1 to 128 characters without control characters".into())
}

pub(crate) fn actor(text: &str) -> Result<String, String> {
    valid_name("an actor", text)
}

pub(crate) fn tenant(text: &str) -> Result<String, String> {
    valid_name("a tenant", text)
}

fn valid_name(what: &str, text: &str) -> Result<String, String> {
    match is_valid_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!("the name of {what} has 1 to 256 bytes and no control characters")),
    }
}

pub(crate) fn job_state(text: &str) -> Result<JobState, String> {
    JobState::parse(&text.to_ascii_uppercase()).ok_or_else(|| {
        let all: Vec<_> = JobState::ALL.iter().map(|state| state.as_str()).collect();
        format!("one of {}", all.join(", "))
    })
}
