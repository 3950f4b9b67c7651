//! `latch job wait`: waits until a job is over or needs a person.

use std::time::Duration;

use latchwork_core::ids::JobId;
use latchwork_core::job::JobState;
use latchwork_core::pages;
use latchwork_core::response::Response;

use super::show::Shown;
use crate::cli::args::JobWaitArgs;
use crate::cli::context::Context;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Text;
use crate::cli::{open, view};
use crate::host::Stores;
use crate::os::clock;

/// First pause between two reads of the job's row. Each further pause is twice as long.
const PAUSE: Duration = Duration::from_millis(50);
/// Maximum pause between two reads.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Waits for the job without executing it. Another process executes it.
pub(super) async fn run(args: JobWaitArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_to_read(&config).await?;
    let began_us = clock::boot_us();
    let left = || args.timeout.map(|all| all.saturating_sub(Duration::from_micros(clock::boot_us() - began_us)));
    let journal = &stores.journal;
    let mut pause = PAUSE;
    let mut noted = None;
    loop {
        // Read the watermark before the row, so that a change after the read of the row ends the pause.
        let seen = journal.news();
        let state = super::row(&stores, &args.job).await?.state;
        if let Some(shown) = at_rest(&stores, &args.job, state).await? {
            shown.print(ctx, &config);
            return Ok(view::exit(&shown.response));
        }
        let left = left();
        if left.is_some_and(|left| left.is_zero()) {
            return Err(not_over(ctx, &args.job, state).into());
        }
        if noted != Some(state) {
            ctx.printer.note_of(&args.job, waits(ctx, &args.job, state));
            noted = Some(state);
        }
        tokio::select! {
            () = tokio::time::sleep(left.map_or(pause, |left| pause.min(left))) => {
                pause = PAUSE_MAX.min(pause * 2);
            }
            _ = journal.news_after(Some(&args.job), seen) => pause = PAUSE,
        }
    }
}

/// Returns the job if it does not continue by itself.
async fn at_rest(stores: &Stores, job_id: &JobId, state: JobState) -> anyhow::Result<Option<Shown>> {
    let rests = |state: JobState| state.is_terminal() || matches!(state, JobState::Parked | JobState::Diverged);
    let restored = open::is_restored().await?;
    if !rests(state) && !restored {
        return Ok(None);
    }
    let shown = Shown::load(stores, job_id).await?;
    // A parked job continues by itself if its time has come, or if it received a request since its row was
    // read.
    let goes_on = |response: &Response| !rests(response.state) || response.status == "running";
    Ok(Some(shown).filter(|shown| restored || !goes_on(&shown.response)))
}

fn waits(ctx: &Context<'_>, job_id: &JobId, state: JobState) -> Text {
    let state_word = state.as_str();
    match state {
        JobState::Pending => {
            let (worker, resume) = (ctx.command("latch worker"), ctx.command(&format!("latch resume {job_id}")));
            Text::from(format!("{job_id} is {state_word}: a worker will execute it (`{worker}`), or:")).to_type(resume)
        }
        JobState::Running => format!("{job_id} is {state_word}: waiting until it is over").into(),
        _ => format!("{job_id} is {state_word}: it continues at its scheduled time").into(),
    }
}

fn not_over(ctx: &Context<'_>, job_id: &JobId, state: JobState) -> CliError {
    let (wait, show) = (format!("latch job wait {job_id}"), format!("latch job show {job_id}"));
    let (wait, show, state) = (ctx.command(&wait), ctx.command(&show), state.as_str());
    let message = format!("{job_id} is not over yet: it is {state}; `{wait}` waits longer, `{show}` shows it");
    CliError::needs_someone(pages::WAIT_ENDED, message)
}
