//! `latch job output`: prints the outputs of a job's steps, byte for byte.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use latchwork_core::model::error_docs;
use latchwork_core::model::ids::StepId;
use latchwork_core::model::job::JobState;
use latchwork_core::response::{last_steps, shell_quoted};
use latchwork_core::state::{Durable, label};
use latchwork_core::storage::StoreError;

use crate::args::JobOutputArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::open;
use crate::stored_job::load::load_job;
use crate::text::Text;

pub(super) async fn run(args: JobOutputArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let stores = open::stores_to_read(ctx.session(), &ctx.config(None)?).await?;
    let durable = load_job(&stores, &args.job).await?;
    let steps = match args.step {
        Some(step) => vec![require_step(&durable, step)?],
        None => last_steps(&durable.job.plan),
    };
    let mut outputs = Vec::new();
    for step in steps {
        let bytes = output(ctx, &durable, &step)?;
        outputs.push((step, bytes));
    }
    if ctx.json {
        let outputs: BTreeMap<&StepId, Value> = outputs.iter().map(|(step, bytes)| (step, value(bytes))).collect();
        let state = durable.job.state;
        ctx.printer.document(&json!({ "job_id": args.job, "state": state, "outputs": outputs }));
        return Ok(Exit::Done);
    }
    let bytes = match outputs.as_slice() {
        [(_, bytes)] => bytes.to_vec(),
        several => object(several),
    };
    match ctx.printer.width() {
        // Escapes characters that control the terminal.
        Some(_) => ctx.printer.print_text(Text::unwrapped_lines(&String::from_utf8_lossy(&bytes))),
        None => ctx.printer.bytes(&bytes),
    }
    Ok(Exit::Done)
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

/// Joins the outputs of several steps into one JSON object. The bytes of each output are unchanged.
fn object(outputs: &[(StepId, Arc<[u8]>)]) -> Vec<u8> {
    let fields: Vec<Vec<u8>> =
        outputs.iter().map(|(step, bytes)| [format!("\"{step}\":").as_bytes(), bytes].concat()).collect();
    [b"{".as_slice(), &fields.join(b",".as_slice()), b"}"].concat()
}

fn require_step(durable: &Durable, step: StepId) -> Result<StepId, CliError> {
    if durable.job.plan.step(&step).is_some() {
        return Ok(step);
    }
    let all: Vec<&str> = durable.job.plan.steps.iter().map(|step| step.step_id.as_str()).collect();
    let job_id = &durable.job.header.job_id;
    let message = format!("job {job_id} has no step {step}: its steps are {}", all.join(", "));
    Err(CliError::input(error_docs::NO_SUCH_STEP, message))
}

/// Returns the recorded bytes of a step's output, checked against the hash in its event.
fn output(ctx: &CommandContext<'_>, durable: &Durable, id: &StepId) -> anyhow::Result<Arc<[u8]>> {
    let job_id = &durable.job.header.job_id;
    let step = durable.job.step(id).expect("a step of the plan is a step of the job");
    let Some(reference) = step.output else { return Err(no_output_error(ctx, durable, id).into()) };
    let Some(bytes) = durable.output(id) else {
        let message = format!(
            "step {id} of {job_id} returned {} bytes, which are no longer in the database: only their hash is \
             recorded",
            reference.len
        );
        return Err(CliError::failed(error_docs::NO_OUTPUT, message).into());
    };
    if durable.payload_ref(&label::output(id), &bytes) != reference {
        let message = format!("job {job_id}: the output of step {id} does not match the hash in its event");
        return Err(StoreError::Damaged(message).into());
    }
    Ok(bytes)
}

/// Returns the error for a step without an output. The message names the reason and the next command.
fn no_output_error(ctx: &CommandContext<'_>, durable: &Durable, id: &StepId) -> CliError {
    let job = &durable.job;
    let job_id = &job.header.job_id;
    let step = job.step(id).expect("a step of the plan is a step of the job");
    let code = step.failure.as_ref().map(|failure| failure.code).or(step.skipped.as_ref().map(|(code, _)| *code));
    let why = code.map(|code| format!(", {code}")).unwrap_or_default();
    let next = match job.state {
        state if state.is_terminal() => {
            format!("`{}` says why", ctx.with_project_flags(&format!("latch job show {job_id}")))
        }
        JobState::Parked | JobState::Diverged => {
            format!("`{}` says what the job needs", ctx.with_project_flags(&format!("latch job show {job_id}")))
        }
        _ => format!("`{}` waits for the job", ctx.with_project_flags(&format!("latch job wait {job_id}"))),
    };
    let mut message = format!("step {id} of {job_id} has no output: it is {}{why}; {next}", step.state.as_str());
    let others: Vec<String> =
        job.steps.iter().filter(|step| step.output.is_some()).map(|step| shell_quoted(step.id.as_str())).collect();
    if !others.is_empty() {
        message += &format!(". Steps with an output: {}", others.join(", "));
    }
    CliError::failed(error_docs::NO_OUTPUT, message)
}
