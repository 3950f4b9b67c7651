//! `latch job approve` and `latch job reject`. Approving never executes: the job goes on when it
//! is resumed, and the gate's hash says for which exact call.

use latchwork_core::decide;
use latchwork_core::pages;
use latchwork_core::storage::Request;

use crate::cli::args::JobGateArgs;
use crate::cli::context::Context;
use crate::cli::error::{CliError, Exit};
use crate::cli::{gates, open};

pub(super) async fn approve(args: JobGateArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    decide(args, ctx, true).await
}

pub(super) async fn reject(args: JobGateArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    decide(args, ctx, false).await
}

async fn decide(args: JobGateArgs, ctx: &Context<'_>, approve: bool) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_only(&config).await?;
    let durable = super::durable(&stores, &args.job).await?;
    let Some(gate) = durable.job.undecided(&args.slot) else {
        let message = format!("no gate is open at {}: see `latch job show {}`", args.slot, args.job);
        return Err(CliError::input(pages::JOB_REFUSES, message).into());
    };
    if args.hash.is_some_and(|hash| hash != gate.hash) {
        let message = format!("the gate at {} is for another call now: its hash is {}", args.slot, gate.hash);
        return Err(CliError::input(pages::JOB_REFUSES, message).into());
    }
    if !ctx.json {
        for line in gates::shown(&durable, &args.slot, gate) {
            ctx.printer.note(line);
        }
    }
    let actor = ctx.actor(args.actor.as_deref());
    let header = &durable.job.header;
    if approve && !decide::may_approve(&gates::rules(&config, header), header, &actor) {
        let message = format!("{actor} asked for the job, and the policy lets nobody approve a call of their own job");
        return Err(CliError::input(pages::JOB_REFUSES, message).into());
    }
    let (slot, gate_hash) = (args.slot.clone(), gate.hash);
    let (request, done) = if approve {
        (Request::Approve { slot, gate_hash }, "approved")
    } else {
        (Request::Reject { slot, gate_hash }, "rejected")
    };
    super::ask(ctx, &stores, &args.job, &actor, args.reason.as_deref(), request, done).await
}
