//! `latch job confirm`.

use latchwork_core::decide;
use latchwork_core::storage::InboxRequest;

use crate::args::JobConfirmArgs;
use crate::context::CommandContext;
use crate::display::changed;
use crate::error::Exit;
use crate::open;
use crate::stored_job::load::load_job;
use crate::stored_job::request::{put_request, refuse_contradiction, refused_by_job};

/// Records that a person accepts the current state of an effect. Refuses the command if the effect at this slot does
/// not wait for confirmation.
pub(super) async fn run(args: JobConfirmArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_only(ctx.session(), &config).await?;
    let durable = load_job(&stores, &args.job).await?;
    let job = &durable.job;
    let over = job.state.is_terminal();
    if !decide::is_confirmable(job, &args.slot, args.gone) {
        let why = match job.confirmations.failed.iter().rfind(|failed| failed.slot == args.slot) {
            _ if args.gone && !over => {
                format!("the job is {}, and --gone is for finished jobs only", job.state.as_str())
            }
            Some(failed) if failed.by_person => {
                let by = failed.resolved_by.as_ref().map(|by| by.actor.as_str()).unwrap_or_default();
                format!("{by} has confirmed {} already", args.slot)
            }
            _ => format!("no effect of {} needs confirmation", args.slot),
        };
        return Err(refused_by_job(why, &args.job).into());
    }
    let actor = ctx.actor(args.actor.as_deref());
    let request = InboxRequest::Confirm { slot: args.slot, gone: args.gone };
    let done = match args.gone {
        true => "recorded that the effect no longer exists: the next job that requests the action performs it",
        false => "recorded that the effect is accepted as it is now",
    };
    changed::print_changes(ctx, &config, &durable);
    refuse_contradiction(&stores, &durable, &request).await?;
    put_request(ctx, &stores, &args.job, &actor, args.reason.as_deref(), request, done).await
}
