//! Shows a job that a command has executed.

use latchwork::host::Host;
use latchwork_core::response::Response;

use crate::context::CommandContext;
use crate::display::{changed, view};
use crate::error::Exit;
use crate::execution::gates::open_gate_lines;

/// Shows a job that this command executed, and returns the exit status. If `were_asked` is true, the gates are not
/// shown again, because this terminal has just shown them.
pub(crate) async fn show_result(
    ctx: &CommandContext<'_>,
    host: &Host,
    response: Response,
    were_asked: bool,
) -> anyhow::Result<Exit> {
    let durable = host.load(&response.job_id).await?;
    let response = changed::with_changes(host.config(), &durable, response, None);
    let gates = open_gate_lines(ctx, host, &response, were_asked).await?;
    Ok(view::answer(ctx, &response, &gates))
}
