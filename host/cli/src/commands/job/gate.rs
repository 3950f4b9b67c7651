//! `latch job approve` and `latch job reject`.
//!
//! An approval executes nothing. The job continues when a worker resumes it. The hash of the gate identifies the exact
//! call that was approved.

use latchwork::evidence::{SigningKey, check_proof};
use latchwork_core::decide;
use latchwork_core::event::DecidedBy;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::Slot;
use latchwork_core::model::person::{People, Signature, Verification};
use latchwork_core::state::{Durable, Gate, pending};
use latchwork_core::storage::{InboxRequest, InboxRow};

use crate::args::JobGateArgs;
use crate::context::CommandContext;
use crate::display::gates::{FORBIDS_SELF_APPROVAL, REQUIRES_REASON, REQUIRES_SIGNATURE};
use crate::display::{changed, gates};
use crate::error::{CliError, Exit};
use crate::files::signing_key;
use crate::open;
use crate::stored_job::load::load_job;
use crate::stored_job::request::{put_decision, refuse_contradiction, refused_by_job};

pub(super) async fn approve(args: JobGateArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    decide(args, ctx, true).await
}

pub(super) async fn reject(args: JobGateArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    decide(args, ctx, false).await
}

async fn decide(args: JobGateArgs, ctx: &CommandContext<'_>, approve: bool) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_only(ctx.session(), &config).await?;
    let durable = load_job(&stores, &args.job).await?;
    let Some(gate) = durable.job.open_gate(&args.slot) else {
        return Err(refused_by_job(format!("no gate is open at {}", args.slot), &args.job).into());
    };
    if args.hash.is_some_and(|hash| hash != gate.hash) {
        let message = format!("the gate at {} is for another call now: its hash is {}", args.slot, gate.hash);
        return Err(CliError::input(error_docs::JOB_REFUSES, message).into());
    }
    let header = &durable.job.header;
    let rules = gates::effective_rules(&config, header);
    if !ctx.json {
        for line in gates::gate_lines(&durable, &args.slot, gate, &rules) {
            ctx.printer.note(line);
        }
    }
    let key = args.key.as_deref().map(signing_key::read).transpose()?;
    let owner = key.as_ref().and_then(|key| config.people().owner(&key.public()));
    let actor = ctx.actor(args.actor.as_deref().or(owner));
    if approve && key.is_none() && !decide::required_assurance(&rules, gate).is_claimed() {
        let message = format!("the policy {REQUIRES_SIGNATURE}: add `--key FILE`");
        return Err(CliError::input(error_docs::JOB_REFUSES, message).into());
    }
    if approve && rules.gate_reason && !decide::is_reason_given(args.reason.as_deref()) {
        let message = format!("the policy {REQUIRES_REASON}: add `--reason TEXT`");
        return Err(CliError::input(error_docs::JOB_REFUSES, message).into());
    }
    if approve && !decide::may_approve(&rules, header, &actor) {
        let message = format!("{actor} submitted the job, and the policy {FORBIDS_SELF_APPROVAL}");
        return Err(CliError::input(error_docs::JOB_REFUSES, message).into());
    }
    let (slot, gate_hash) = (args.slot.clone(), gate.hash);
    let request = match approve {
        true => InboxRequest::Approve { slot, gate_hash },
        false => InboxRequest::Reject { slot, gate_hash },
    };
    let by = DecidedBy::claimed(&actor, args.reason.clone());
    let by = match &key {
        Some(key) => sign(key, config.people(), &durable, by, &request)?,
        None => by,
    };
    changed::print_changes(ctx, &config, &durable);
    let inbox = refuse_contradiction(&stores, &durable, &request).await?;
    let done = match approve {
        true => approval_message(gate, &inbox, &args.slot, &actor),
        false => "rejected".to_owned(),
    };
    put_decision(ctx, &stores, &args.job, by, request, &done).await
}

/// Signs a decision about a gate. The key has to be one of the actor's keys in the configuration.
fn sign(
    key: &SigningKey,
    people: &People,
    durable: &Durable,
    by: DecidedBy,
    request: &InboxRequest,
) -> Result<DecidedBy, CliError> {
    let statement = decide::signed_statement(durable, request, &by).expect("the gate is open");
    let signature = Signature(key.sign(&statement.message()));
    let by = DecidedBy { verified: Some(Verification::Signature { key: key.public(), signature }), ..by };
    match check_proof(people, durable, &by, request) {
        Ok(()) => Ok(by),
        Err(error) => {
            let message = format!("{error}; the administrator names the keys of people in `[people]`");
            Err(CliError::input(error_docs::PERSON_KEY, message))
        }
    }
}

/// Describes the approvals of the gate so far, including the approval that this command records.
fn approval_message(gate: &Gate, inbox: &[InboxRow], slot: &Slot, actor: &str) -> String {
    let mut who = pending::approvers(gate, inbox, slot);
    who.insert(actor);
    match gate.quorum {
        quorum if who.len() < quorum as usize => format!("approved by {} of {quorum}", who.len()),
        _ => "approved".to_owned(),
    }
}
