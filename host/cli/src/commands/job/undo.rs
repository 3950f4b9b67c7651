//! `latch job undo`.

use serde_json::json;

use latchwork::reopen::{UndoError, UndoSubmission};
use latchwork::runtime::WorkerError;
use latchwork_core::decide::CallToUndo;
use latchwork_core::model::error_docs;
use latchwork_core::model::job::JobState;
use latchwork_core::response::{CompensationState, Response};
use latchwork_core::storage::InboxError;

use crate::args::JobUndoArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::execution::attach::attach;
use crate::execution::messages::detached_message;
use crate::execution::result::show_result;
use crate::execution::settle::until_settled;
use crate::open;
use crate::plugins::admission;
use crate::stored_job::load::no_such_job;

/// Stores the undo request, then undoes the job in this process. If another process claims the job, follows that
/// process. With `--detach`, only stores the request.
pub(super) async fn run(args: JobUndoArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    if let Some(path) = open::missing_database(&config)? {
        return Err(open::no_database(&path).into());
    }
    let host = open::host(ctx.session(), config).await?;
    admission::warn_refused_plugins(ctx, host.registry());
    let actor = ctx.actor(args.actor.as_deref());
    let job_id = &args.job;
    let asked = host.undo(job_id, &actor, args.reason.as_deref(), !args.detach).await;
    let due = match asked.map_err(|error| refused(&args, error))? {
        UndoSubmission::Accepted(due) => due,
        UndoSubmission::UnderWay => {
            ctx.printer.note_of(job_id, format!("{job_id} is being undone already"));
            Vec::new()
        }
    };
    for line in undo_lines(&due) {
        ctx.printer.note(line);
    }
    if args.detach {
        let next = ctx.with_project_flags(&format!("latch job show {job_id}"));
        let list =
            due.iter().map(|due| json!({ "slot": due.slot, "operator": due.operator, "by": due.by, "own": due.own }));
        let document = json!({ "job_id": job_id, "undo": list.collect::<Vec<_>>(), "next_actions": [next] });
        ctx.answer(&document, || detached_message(ctx, job_id, &next));
        return Ok(Exit::Done);
    }
    let response = attach(ctx, &host, job_id).await?;
    let response = until_settled(ctx, &host, response, &actor).await?;
    let is_undone = is_undone(&response);
    let exit = show_result(ctx, &host, response, true).await?;
    Ok(if is_undone { Exit::Done } else { exit })
}

/// Lists the calls to undo, in the order in which they are undone.
fn undo_lines(due: &[CallToUndo]) -> Vec<String> {
    if due.is_empty() {
        return Vec::new();
    }
    let line = |due: &CallToUndo| {
        let by = if due.own { "its own plugin".to_owned() } else { due.by.to_string() };
        format!("  {} {}, by {by}", due.slot, due.operator)
    };
    std::iter::once("to be undone, the last effect first:".to_owned()).chain(due.iter().map(line)).collect()
}

/// Returns true if the job is over and all of its effects are undone.
fn is_undone(response: &Response) -> bool {
    let is_left = |state: CompensationState| state != CompensationState::Compensated;
    response.state == JobState::Cancelled && !response.compensations.iter().any(|view| is_left(view.state))
}

fn refused(args: &JobUndoArgs, error: UndoError) -> anyhow::Error {
    match error {
        UndoError::Worker(WorkerError::NoJob(_)) | UndoError::Inbox(InboxError::NoJob(_)) => {
            no_such_job(&args.job).into()
        }
        UndoError::Refused(why) => CliError::input(error_docs::JOB_REFUSES, why.to_string()).into(),
        UndoError::Inbox(why @ InboxError::WrongState { .. }) => {
            let message = format!("{why}: another request reopened it; see `latch job show {}`", args.job);
            CliError::input(error_docs::JOB_REFUSES, message).into()
        }
        UndoError::Inbox(error) => error.into(),
        UndoError::Worker(error) => error.into(),
    }
}
