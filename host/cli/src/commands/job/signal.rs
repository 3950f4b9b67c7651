//! `latch job signal`.

use std::io::Read;
use std::path::Path;

use latchwork_core::encoding::canon;
use latchwork_core::model::error_docs;
use latchwork_core::storage::InboxRequest;

use crate::args::JobSignalArgs;
use crate::context::CommandContext;
use crate::display::changed;
use crate::error::{CliError, Exit};
use crate::files::source::read_unbounded;
use crate::open;
use crate::stored_job::load::{load_job, require_row};
use crate::stored_job::request::put_request;

/// Maximum size of a signal's payload. The payload is kept in the inbox and becomes the output of a step.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;

pub(super) async fn run(args: JobSignalArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let payload = payload(args.payload.as_deref())?;
    let config = ctx.config(None)?;
    let stores = open::stores_only(ctx.session(), &config).await?;
    let actor = ctx.actor(args.actor.as_deref());
    let request = InboxRequest::Signal { key: args.key, payload };
    let state = require_row(&stores, &args.job).await?.state;
    // Ignores a loading error, because a job that cannot be loaded still accepts signals.
    if let Ok(durable) = load_job(&stores, &args.job).await {
        changed::print_changes(ctx, &config, &durable);
    }
    let done = match state.is_terminal() {
        // A finished job accepts a signal only if a wait for the same key has already received one. The new signal is
        // recorded and has no effect.
        true => "the job is over and already had this signal: it is recorded, and changes nothing",
        false => "the signal is recorded",
    };
    put_request(ctx, &stores, &args.job, &actor, args.reason.as_deref(), request, done).await
}

/// Returns the payload as received, after checking that it is valid JSON.
fn payload(given: Option<&str>) -> anyhow::Result<String> {
    let Some(given) = given else { return Ok("null".to_owned()) };
    let (bytes, named) = match given {
        "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes)?;
            (bytes, "stdin")
        }
        // Text that looks like JSON is the payload itself, except if a file with this name exists.
        text if !Path::new(text).is_file() && looks_like_json(text) => (text.as_bytes().to_vec(), "the payload"),
        file => (read_unbounded(Path::new(file))?, file),
    };
    let invalid =
        |why: String| CliError::input(error_docs::INPUT_UNREADABLE, format!("{named} is not a valid payload: {why}"));
    if bytes.len() > PAYLOAD_BYTES_MAX {
        return Err(invalid(format!("it has {} bytes, more than {PAYLOAD_BYTES_MAX}", bytes.len())).into());
    }
    canon::parse_strict(&bytes).map_err(|error| invalid(error.to_string()))?;
    Ok(String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?)
}

fn looks_like_json(text: &str) -> bool {
    let start = text.trim_start();
    matches!(start.chars().next(), Some('{' | '[' | '"' | '-' | '0'..='9'))
        || matches!(text.trim(), "true" | "false" | "null")
}
