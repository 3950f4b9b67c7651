//! Continues a job until no gate can be decided on this terminal and no timer expires soon.

use std::time::Duration;

use latchwork::host::Host;
use latchwork_core::model::error::Code;
use latchwork_core::model::job::JobState;
use latchwork_core::plan::wait::SHORT_WAIT_MS;
use latchwork_core::response::{BlockedView, Response};

use crate::context::CommandContext;
use crate::execution::attach::{attach, show_stopped};
use crate::execution::gates::ask_about_gates;
use crate::interrupt;
use crate::live::{Screen, recorded_events};

/// Continues a job as long as its gates are decided on this terminal or its timers expire soon.
pub(crate) async fn until_settled(
    ctx: &CommandContext<'_>,
    host: &Host,
    mut response: Response,
    actor: &str,
) -> anyhow::Result<Response> {
    loop {
        let goes_on = match response.state {
            _ if interrupt::is_pressed() => false,
            JobState::Parked | JobState::Waiting if ask_about_gates(ctx, host, &response, actor).await? => true,
            JobState::Waiting => wait_for_timer(ctx, host, &response).await?,
            _ => false,
        };
        if !goes_on {
            return Ok(response);
        }
        response = attach(ctx, host, &response.job_id).await?;
    }
}

/// Waits for the next timer that continues the job without a person. Returns false if there is no such timer, if the
/// timer expires too far in the future, or after ctrl-c.
async fn wait_for_timer(ctx: &CommandContext<'_>, host: &Host, response: &Response) -> anyhow::Result<bool> {
    let alone = |view: &&BlockedView| matches!(view.reason_code, Code::RetryScheduled | Code::WaitingTimer);
    let Some(until_us) = response.blocked.iter().filter(alone).filter_map(|view| view.until).min() else {
        return Ok(false);
    };
    let left_us = u64::try_from(until_us - ctx.session().now_us()).unwrap_or(0);
    if left_us > u64::from(SHORT_WAIT_MS) * 1_000 {
        return Ok(false);
    }
    let job_id = &response.job_id;
    let mut screen = Screen::for_own_job(ctx.printer, job_id, &recorded_events(&**host.journal(), job_id).await?);
    let over = tokio::time::sleep(Duration::from_micros(left_us));
    tokio::pin!(over);
    loop {
        tokio::select! {
            () = &mut over => return Ok(true),
            () = screen.tick() => screen.draw(),
            () = interrupt::pressed_times(1) => {
                drop(screen);
                show_stopped(ctx, host, job_id).await?;
                return Ok(false);
            }
        }
    }
}
