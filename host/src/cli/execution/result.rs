//! Shows a job that a command has executed.

use latchwork_core::response::Response;

use crate::cli::context::Context;
use crate::cli::display::{changed, view};
use crate::cli::error::Exit;
use crate::cli::execution::gates::open_gate_lines;
use crate::host::Host;

/// Shows a job that ran here and returns the exit status. If `were_asked` is true, this terminal has just shown the
/// gates, and the gates are not shown again.
pub(crate) async fn show_result(
    ctx: &Context<'_>,
    host: &Host,
    response: Response,
    were_asked: bool,
) -> anyhow::Result<Exit> {
    let durable = host.load(&response.job_id).await?;
    let response = changed::with_changes(&host.config, &durable, response, None);
    let gates = open_gate_lines(ctx, host, &response, were_asked).await?;
    Ok(view::answer(ctx, &response, &gates))
}
