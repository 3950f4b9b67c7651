//! Messages about jobs that this command does not continue.

use latchwork_core::model::error::Code;
use latchwork_core::model::ids::JobId;

use crate::context::CommandContext;
use crate::text::Text;

/// Returns the message about a job that was left to a worker.
pub(crate) fn detached_message(ctx: &CommandContext<'_>, job_id: &JobId, next: &str) -> Text {
    Text::from(format!("{job_id} waits for a worker (`{}`); next:", ctx.with_project_flags("latch worker")))
        .with_command(next)
}

/// Returns the message about a job that was parked because it could not be loaded.
pub(crate) fn parked_unloaded_message(ctx: &CommandContext<'_>, job_id: &JobId, cause: &str) -> Text {
    let next = ctx.with_project_flags(&format!("latch job resolve {job_id} --continue"));
    let code = Code::AttemptsExhausted;
    Text::from(format!(
        "{job_id} is PARKED, {code}: {cause}; find out why the process dies (check the OOM killer), then run:"
    ))
    .with_command(next)
}
