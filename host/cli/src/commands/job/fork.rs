//! `latch job fork`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use latchwork::fork::{ForkError, ForkOptions};
use latchwork::host::SubmitError;
use latchwork::runtime::WorkerError;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::StepId;

use crate::args::JobForkArgs;
use crate::context::CommandContext;
use crate::error::{CliError, CliProblem, Exit, step_plugin_needs_all};
use crate::execution::attach::execute;
use crate::execution::result::show_result;
use crate::execution::settle::until_settled;
use crate::files::source::read_unbounded;
use crate::open;
use crate::plugins::admission;
use crate::stored_job::load::no_such_job;

/// Stores the new job, then executes the job in this process.
pub(super) async fn run(args: JobForkArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let set = read_outputs(&args.set)?;
    let config = ctx.config(None)?;
    if let Some(path) = open::missing_database(&config)? {
        return Err(open::no_database(&path).into());
    }
    let host = open::host(ctx.session(), config).await?;
    admission::warn_refused_plugins(ctx, host.registry());
    let actor = ctx.actor(args.actor.as_deref());
    let wish = ForkOptions { at: args.at, set, actor: actor.clone(), reason: args.reason };
    let claim = match host.fork(&args.job, wish).await {
        Ok(claim) => claim,
        Err(ForkError::Load(WorkerError::NoJob(job))) => return Err(no_such_job(&job).into()),
        Err(ForkError::Load(error)) => return Err(error.into()),
        Err(ForkError::Write(error) | ForkError::Submit(SubmitError::Write(error))) => {
            return Err(CliError::from(&error).into());
        }
        Err(ForkError::Plan(violations)) => {
            let message = format!("the rest of the plan of {} does not fit the loaded plugins", args.job);
            let error = CliError::input(error_docs::PLAN_REFUSED, message)
                .with_problems(violations.iter().map(CliProblem::from));
            return Err(error.into());
        }
        Err(error @ ForkError::Output { .. }) => {
            return Err(CliError::input(error_docs::INPUT_UNREADABLE, error.to_string()).into());
        }
        Err(ForkError::Submit(SubmitError::Plugins { operator, plugins })) => {
            return Err(step_plugin_needs_all(&operator, &plugins).into());
        }
        Err(error @ ForkError::Submit(_)) => {
            return Err(CliError::input(error_docs::USAGE, format!("{error}: see [policy] in latch.toml")).into());
        }
        Err(error @ ForkError::Refused(_)) => {
            return Err(CliError::input(error_docs::JOB_REFUSES, error.to_string()).into());
        }
    };
    ctx.printer.note_of(&claim.row.job_id, format!("{} continues from the middle of {}", claim.row.job_id, args.job));
    let response = execute(ctx, &host, claim).await?;
    let response = until_settled(ctx, &host, response, &actor).await?;
    show_result(ctx, &host, response, true).await
}

fn read_outputs(set: &[(StepId, std::path::PathBuf)]) -> anyhow::Result<BTreeMap<StepId, Vec<u8>>> {
    let mut outputs = BTreeMap::new();
    for (step, file) in set {
        let bytes = if file == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes)?;
            bytes
        } else {
            read_unbounded(file)?
        };
        if outputs.insert(step.clone(), bytes).is_some() {
            return Err(CliError::input(error_docs::USAGE, format!("--set {step} is given twice: keep one")).into());
        }
    }
    Ok(outputs)
}
