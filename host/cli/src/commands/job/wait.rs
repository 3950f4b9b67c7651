//! `latch job wait`: waits until a job is over or needs a person.

use std::time::Duration;

use latchwork::builder::Stores;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_core::model::job::JobState;
use latchwork_core::response::Response;

use crate::args::JobWaitArgs;
use crate::context::CommandContext;
use crate::display::view;
use crate::error::{CliError, Exit};
use crate::open;
use crate::stored_job::display::JobDisplay;
use crate::stored_job::load::require_row;
use crate::text::Text;

/// First pause between two reads of the job's row. Each further pause is twice as long.
const PAUSE: Duration = Duration::from_millis(50);
/// Maximum pause between two reads.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Waits for the job without executing it. Another process executes it.
pub(super) async fn run(args: JobWaitArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_to_read(ctx.session(), &config).await?;
    let began_us = ctx.session().machine().boot_us();
    let left = || {
        args.timeout.map(|all| all.saturating_sub(Duration::from_micros(ctx.session().machine().boot_us() - began_us)))
    };
    let journal = stores.journal();
    let mut pause = PAUSE;
    let mut noted = None;
    loop {
        // Reads the watermark before the row, so that a later change of the row ends the pause.
        let seen = journal.watermark();
        let state = require_row(&stores, &args.job).await?.state;
        if let Some(display) = load_if_settled(ctx, &stores, &args.job, state).await? {
            display.print(ctx, &config);
            return Ok(view::exit(&display.response));
        }
        // Prints the state even if the first reading of the job took longer than the timeout.
        if noted != Some(state) {
            ctx.printer.note_of(&args.job, waiting_message(ctx, &args.job, state));
            noted = Some(state);
        }
        let left = left();
        if left.is_some_and(|left| left.is_zero()) {
            return Err(wait_timed_out(ctx, &args.job, state).into());
        }
        tokio::select! {
            () = tokio::time::sleep(left.map_or(pause, |left| pause.min(left))) => {
                pause = PAUSE_MAX.min(pause * 2);
            }
            _ = journal.wait_for_change(Some(&args.job), seen) => pause = PAUSE,
        }
    }
}

/// Returns the job if the job has stopped: the job is over or needs a person, or the database was restored.
async fn load_if_settled(
    ctx: &CommandContext<'_>,
    stores: &Stores,
    job_id: &JobId,
    state: JobState,
) -> anyhow::Result<Option<JobDisplay>> {
    let rests = |state: JobState| state.is_terminal() || matches!(state, JobState::Parked | JobState::Diverged);
    let restored = ctx.session().is_restored().await?;
    if !rests(state) && !restored {
        return Ok(None);
    }
    let display = JobDisplay::load(ctx, stores, job_id).await?;
    // A parked job continues without a person in two cases: its timer has expired, or a request has arrived since the
    // row was read. In both cases the job does not count as stopped.
    let goes_on = |response: &Response| !rests(response.state) || response.status == "running";
    Ok(Some(display).filter(|display| restored || !goes_on(&display.response)))
}

fn waiting_message(ctx: &CommandContext<'_>, job_id: &JobId, state: JobState) -> Text {
    let state_word = state.as_str();
    match state {
        JobState::Pending => {
            let (worker, resume) =
                (ctx.with_project_flags("latch worker"), ctx.with_project_flags(&format!("latch resume {job_id}")));
            Text::from(format!("{job_id} is {state_word}: a worker will execute it (`{worker}`), or:"))
                .with_command(resume)
        }
        JobState::Running => format!("{job_id} is {state_word}: waiting until it is over").into(),
        _ => format!("{job_id} is {state_word}: it continues at its scheduled time").into(),
    }
}

fn wait_timed_out(ctx: &CommandContext<'_>, job_id: &JobId, state: JobState) -> CliError {
    let (wait, show) = (format!("latch job wait {job_id}"), format!("latch job show {job_id}"));
    let (wait, show, state) = (ctx.with_project_flags(&wait), ctx.with_project_flags(&show), state.as_str());
    let message = format!("{job_id} is not over yet: it is {state}; `{wait}` waits longer, `{show}` shows it");
    CliError::action_required(error_docs::WAIT_ENDED, message)
}
