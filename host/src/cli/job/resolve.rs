//! `latch job resolve`.

use std::io::Read;
use std::path::Path;

use latchwork_core::canon;
use latchwork_core::ids::Slot;
use latchwork_core::job::JobState;
use latchwork_core::ledger::RowState;
use latchwork_core::pages;
use latchwork_core::state::Durable;
use latchwork_core::storage::{Request, Resolved};

use crate::cli::args::{JobResolveArgs, Verdict};
use crate::cli::context::Context;
use crate::cli::error::{CliError, Exit};
use crate::cli::{open, run};

pub(super) async fn run(args: JobResolveArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let stores = open::stores_only(&ctx.config(None)?).await?;
    let durable = super::durable(&stores, &args.job).await?;
    let (request, done) = match args.verdict() {
        Verdict::Applied(slot, file) => {
            let result = result(&file)?;
            (resolve(&durable, slot, Resolved::Applied(result))?, "it is recorded that the call took effect")
        }
        Verdict::NotApplied(slot) => {
            (resolve(&durable, slot, Resolved::NotApplied)?, "it is recorded that the call did not take effect")
        }
        Verdict::Lost(slot) => (resolve(&durable, slot, Resolved::Abort)?, "the call counts as lost"),
        Verdict::Continue => (stopped(&durable, Request::Continue)?, "the job may go on"),
        Verdict::Abort => (stopped(&durable, Request::Abort)?, "the job will be failed"),
    };
    let actor = ctx.actor(args.actor.as_deref());
    super::ask(ctx, &stores, &args.job, &actor, args.reason.as_deref(), request, done).await
}

/// A verdict on a call is taken only while the call is in doubt: earlier, the world may still answer.
fn resolve(durable: &Durable, slot: Slot, verdict: Resolved) -> anyhow::Result<Request> {
    let job_id = &durable.job.header.job_id;
    let state = durable.rows.get(&slot).map(|row| row.state);
    let message = match state {
        Some(RowState::Indeterminate) => return Ok(Request::Resolve { slot, verdict }),
        Some(RowState::Inflight) => {
            format!("{slot} may still be executing; `latch resume {job_id}` first finds out what can be found out")
        }
        Some(state) => format!("{slot} is {state:?} and not in doubt"),
        None => format!("the job has no call at {slot}: see `latch job show {job_id}`"),
    };
    Err(CliError::input(pages::JOB_REFUSES, message).into())
}

fn stopped(durable: &Durable, request: Request) -> anyhow::Result<Request> {
    let state = durable.job.state;
    if matches!(state, JobState::Parked | JobState::Diverged) {
        return Ok(request);
    }
    let message = format!("the job is {}; only a parked or diverged one can be continued or aborted", state.as_str());
    Err(CliError::input(pages::JOB_REFUSES, message).into())
}

fn result(file: &Path) -> anyhow::Result<String> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes)?;
        bytes
    } else {
        run::read(file)?
    };
    let invalid =
        |error: String| CliError::input(pages::INPUT_UNREADABLE, format!("{} is no result: {error}", file.display()));
    canon::parse_strict(&bytes).map_err(|error| invalid(error.to_string()))?;
    Ok(String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?)
}
