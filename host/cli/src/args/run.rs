//! Arguments of `latch run` and `latch resume`.

use std::path::PathBuf;

use clap::Args;

use latchwork_core::model::ids::{JobId, StepId};

use crate::args::mode::ModeArg;
use crate::args::parameters::ParameterArgs;
use crate::args::parsers::{actor, job_id, step_id, tenant};

/// Arguments of `latch run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The plan, or a whole request with intent and plan: a JSON file, or - for stdin
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Values of the plan's parameters.
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// Build the configured plugins before the run
    #[arg(long)]
    pub build: bool,
    /// Mode that limits what the job may change [default: the mode of the request, else HUMAN_GATED]
    #[arg(long, value_enum, ignore_case = true, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    /// Approve the gate of this step in advance; may be repeated
    #[arg(long, value_name = "STEP", value_parser = step_id)]
    pub approve: Vec<StepId>,
    /// Start a new job even if the same request was submitted before
    #[arg(long)]
    pub new: bool,
    /// Submit the job and return; a worker executes it
    #[arg(long)]
    pub detach: bool,
    /// Priority from -100 to 100; workers claim the highest first [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i16).range(-100..=100))]
    pub priority: Option<i16>,
    /// Actor that makes the request [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
    /// Tenant whose policy applies [default: default]
    #[arg(long, value_name = "NAME", value_parser = tenant)]
    pub tenant: Option<String>,
    /// Use a new database in this folder instead of the configured one; used by `latch dev`
    #[arg(long, value_name = "DIR", hide = true)]
    pub scratch: Option<PathBuf>,
}

/// Arguments of `latch resume`.
#[derive(Args, Debug)]
pub struct ResumeArgs {
    /// Continue only this job [default: every unfinished job]
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: Option<JobId>,
}
