//! `latch job resolve`.

use std::io::Read;
use std::path::Path;

use latchwork::config::Config;
use latchwork_core::decide;
use latchwork_core::decide::VerdictRefusal;
use latchwork_core::encoding::canon;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::Slot;
use latchwork_core::state::Durable;
use latchwork_core::storage::{InboxRequest, ManualVerdict};

use crate::args::{JobResolveArgs, ResolveDecision};
use crate::context::CommandContext;
use crate::display::changed;
use crate::error::{CliError, Exit};
use crate::files::source::read_unbounded;
use crate::open;
use crate::plugins::catalog;
use crate::stored_job::load::load_job;
use crate::stored_job::request::{put_request, refuse_contradiction};

pub(super) async fn run(args: JobResolveArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    let stores = open::stores_only(ctx.session(), &config).await?;
    let durable = load_job(&stores, &args.job).await?;
    let (request, done) = match args.decision() {
        ResolveDecision::Applied(slot, file) => {
            let result = read_result(&file)?;
            check_result(ctx, &config, &durable, &slot, &file, &result)?;
            (resolve(ctx, &durable, &slot, ManualVerdict::Applied(result))?, "recorded that the call took effect")
        }
        ResolveDecision::NotApplied(slot) => {
            (resolve(ctx, &durable, &slot, ManualVerdict::NotApplied)?, "recorded that the call did not take effect")
        }
        ResolveDecision::Lost(slot) => {
            let done = match durable.job.failed_compensation() == Some(&slot) {
                true => "the effect that it should have undone stays",
                false => "the call counts as lost",
            };
            (resolve(ctx, &durable, &slot, ManualVerdict::Abort)?, done)
        }
        ResolveDecision::Continue => (require_stopped(&durable, InboxRequest::Continue)?, "the job can continue"),
        // If the job already undoes its calls, an abort only stops the undoing.
        ResolveDecision::Abort => match durable.job.is_aborting() {
            true => (
                require_stopped(&durable, InboxRequest::Abort)?,
                "nothing more will be undone: the remaining effects stay",
            ),
            false => (require_stopped(&durable, InboxRequest::Abort)?, "the job will fail"),
        },
    };
    let actor = ctx.actor(args.actor.as_deref());
    changed::print_changes(ctx, &config, &durable);
    refuse_contradiction(&stores, &durable, &request).await?;
    put_request(ctx, &stores, &args.job, &actor, args.reason.as_deref(), request, done).await
}

/// Creates the resolve request of a call.
///
/// The call must be in doubt and its settling time must have passed. Until then, the effect of the call may still
/// appear in the external system.
fn resolve(
    ctx: &CommandContext<'_>,
    durable: &Durable,
    slot: &Slot,
    verdict: ManualVerdict,
) -> anyhow::Result<InboxRequest> {
    let job_id = &durable.job.header.job_id;
    decide::verdict_request(durable, slot, verdict, ctx.session().now_us()).map_err(|why| {
        let next = match why {
            VerdictRefusal::NoCall => format!(": see `latch job show {job_id}`"),
            VerdictRefusal::Executing => {
                format!("; run `latch resume {job_id}` first, which tries to find out whether it took effect")
            }
            VerdictRefusal::Settling { .. } => {
                ": check the external system again then, and resolve the call".to_owned()
            }
            VerdictRefusal::Decided(_) => String::new(),
        };
        CliError::input(error_docs::JOB_REFUSES, format!("{slot}: {why}{next}")).into()
    })
}

/// Checks a result that a person supplies against the output schema of the operator. Later steps rely on this result.
fn check_result(
    ctx: &CommandContext<'_>,
    config: &Config,
    durable: &Durable,
    slot: &Slot,
    file: &Path,
    result: &str,
) -> anyhow::Result<()> {
    // Skips the check of a compensating call that runs the `compensate` export of the plugin, because the result of
    // this export has no schema. Skips a slot without a call: `resolve` refuses such a slot later.
    let own = durable.job.compensations.get(slot).is_some_and(|compensation| compensation.is_self_undo);
    let called = durable.job.calls.get(slot).filter(|_| !own);
    let Some((call, pinned)) = called.and_then(|call| Some((call, durable.job.pinned(&call.operator)?))) else {
        return Ok(());
    };
    let loaded =
        catalog::load_from_survey(ctx.session(), config, open::survey(config)).map_err(|error| error.to_string());
    let plugin =
        loaded.and_then(|registry| registry.component(pinned.digest, pinned.wasi).map_err(|error| error.to_string()));
    let plugin = match plugin {
        Ok(plugin) => plugin,
        // Accepts the result without the check if the plugin no longer exists. A person must still be able to decide
        // about the call.
        Err(error) => {
            ctx.printer.warn(format!("the result is not checked against the schema of {}: {error}", call.operator));
            return Ok(());
        }
    };
    let value = serde_json::from_str(result)?;
    plugin.check_output(call.operator.as_str(), &value).map_err(|failure| {
        let message = format!("{} is not a valid result of {}: {}", file.display(), call.operator, failure.message);
        CliError::input(error_docs::INPUT_UNREADABLE, message).into()
    })
}

fn require_stopped(durable: &Durable, request: InboxRequest) -> anyhow::Result<InboxRequest> {
    let state = durable.job.state;
    if decide::is_parked_or_diverged(&durable.job) {
        return Ok(request);
    }
    let message = format!("the job is {}; only a parked or diverged one can be continued or aborted", state.as_str());
    Err(CliError::input(error_docs::JOB_REFUSES, message).into())
}

fn read_result(file: &Path) -> anyhow::Result<String> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes)?;
        bytes
    } else {
        read_unbounded(file)?
    };
    let invalid = |error: String| {
        CliError::input(error_docs::INPUT_UNREADABLE, format!("{} is not a valid result: {error}", file.display()))
    };
    canon::parse_strict(&bytes).map_err(|error| invalid(error.to_string()))?;
    Ok(String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))?)
}
