//! Arguments of `latch job`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use latchwork_core::model::ids::{Hash, JobId, Slot, StepId};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::cost::CostGrouping;

use crate::args::evidence::JobExportArgs;
use crate::args::parsers::{actor, correlation_key, duration, hash, job_id, job_state, slot, step_file, step_id};

/// Arguments of `latch job`.
#[derive(Args, Debug)]
pub struct JobArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: JobCommand,
}

/// Commands of `latch job`.
#[derive(Debug, Subcommand)]
pub enum JobCommand {
    /// List jobs, newest first
    List(JobListArgs),
    /// Show the state of a job and what can be done next
    Show(JobShowArgs),
    /// Print the outputs of a job's steps, byte for byte
    Output(JobOutputArgs),
    /// Wait until a job is over or needs a person
    Wait(JobWaitArgs),
    /// Print the events of a job in order
    Events(JobEventsArgs),
    /// Show the costs of calls by job, by actor and day, or by tenant and month
    Costs(JobCostsArgs),
    /// Replay a job from its log without executing any call
    Replay(JobReplayArgs),
    /// Export a job as one evidence file that can be verified offline
    Export(JobExportArgs),
    /// Decide a call in doubt, or continue or abort a stopped job
    Resolve(JobResolveArgs),
    /// Cancel a job; calls in flight are resolved first
    Cancel(JobCancelArgs),
    /// Retry the failed steps of a finished job; successful steps are kept
    Retry(JobRetryArgs),
    /// Undo the effects of a finished job, last effect first
    Undo(JobUndoArgs),
    /// Start a new job from the middle of this one; earlier results are copied
    Fork(JobForkArgs),
    /// Approve the exact call that a gate shows
    Approve(JobGateArgs),
    /// Reject the call that a gate shows
    Reject(JobGateArgs),
    /// Accept the current state of a resource that an earlier call changed
    Confirm(JobConfirmArgs),
    /// Send a signal to a waiting step
    Signal(JobSignalArgs),
}

/// Arguments of `latch job list`.
#[derive(Args, Debug)]
pub struct JobListArgs {
    /// List only jobs in this state
    #[arg(long, value_name = "STATE", value_parser = job_state)]
    pub state: Option<JobState>,
    /// List only unfinished jobs
    #[arg(long)]
    pub open: bool,
    /// Maximum number of jobs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// Arguments of `latch job show`.
#[derive(Args, Debug)]
pub struct JobShowArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
}

/// Arguments of `latch job output`.
#[derive(Args, Debug)]
pub struct JobOutputArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The step [default: the steps that no other step depends on; several are printed as one JSON object]
    #[arg(value_name = "STEP", value_parser = step_id)]
    pub step: Option<StepId>,
}

/// Arguments of `latch job wait`.
#[derive(Args, Debug)]
pub struct JobWaitArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Maximum time to wait, such as 30s or 5m; afterwards the command exits with code 3
    #[arg(long, value_name = "D", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// Arguments of `latch job events`.
#[derive(Args, Debug)]
pub struct JobEventsArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Keep printing new events until the job is over, parked or diverged
    #[arg(long)]
    pub follow: bool,
    /// Print only events after this sequence number
    #[arg(long, value_name = "SEQ")]
    pub after: Option<u64>,
}

/// Arguments of `latch job replay`.
#[derive(Args, Debug)]
pub struct JobReplayArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id, required_unless_present = "all", conflicts_with = "all")]
    pub job: Option<JobId>,
    /// Replay every job of the database
    #[arg(long)]
    pub all: bool,
    /// Replay every prefix of the log, as if the process had been killed after each event
    #[arg(long)]
    pub every_prefix: bool,
}

/// Arguments of `latch job costs`.
#[derive(Args, Debug)]
pub struct JobCostsArgs {
    /// Show each call of this job
    #[arg(value_name = "JOB", value_parser = job_id, conflicts_with = "by")]
    pub job: Option<JobId>,
    /// Grouping of the sums
    #[arg(long, value_enum, value_name = "GROUP", default_value = "job")]
    pub by: CostsBy,
}

/// Groupings of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CostsBy {
    /// By job
    Job,
    /// By actor and day
    ActorDay,
    /// By tenant and month
    TenantMonth,
}

impl From<CostsBy> for CostGrouping {
    fn from(by: CostsBy) -> CostGrouping {
        match by {
            CostsBy::Job => CostGrouping::Job,
            CostsBy::ActorDay => CostGrouping::ActorDay,
            CostsBy::TenantMonth => CostGrouping::TenantMonth,
        }
    }
}

/// Arguments of `latch job resolve`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("verdict").required(true).args(["applied", "not_applied", "abort", "go_on"]))]
pub struct JobResolveArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The call in doubt, as shown by `latch job show` [default: the whole job]
    #[arg(value_name = "SLOT", value_parser = slot, required_unless_present_any = ["go_on", "abort"])]
    pub slot: Option<Slot>,
    /// The call took effect; the file holds its result as JSON, or - for stdin
    #[arg(long, value_name = "FILE", requires = "slot")]
    pub applied: Option<PathBuf>,
    /// The call did not take effect; it is executed again
    #[arg(long, requires = "slot")]
    pub not_applied: bool,
    /// With SLOT: give the call up as lost; without SLOT: fail the job
    #[arg(long)]
    pub abort: bool,
    /// Continue a parked or diverged job
    #[arg(long = "continue", conflicts_with = "slot")]
    pub go_on: bool,
    /// Reason; recorded with the decision
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// Decision given by the flags of `latch job resolve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveDecision {
    /// The call took effect. The path names the file with its result.
    Applied(Slot, PathBuf),
    /// The call did not take effect.
    NotApplied(Slot),
    /// The call is given up as lost. Its effect stays unknown.
    Lost(Slot),
    /// The parked or diverged job continues.
    Continue,
    /// The job is aborted and fails.
    Abort,
}

impl JobResolveArgs {
    /// Returns the decision. The argument parser guarantees exactly one decision.
    pub fn decision(&self) -> ResolveDecision {
        match (&self.slot, &self.applied) {
            (Some(slot), Some(file)) => ResolveDecision::Applied(slot.clone(), file.clone()),
            (Some(slot), None) if self.not_applied => ResolveDecision::NotApplied(slot.clone()),
            (Some(slot), None) => ResolveDecision::Lost(slot.clone()),
            (None, _) if self.go_on => ResolveDecision::Continue,
            (None, _) => ResolveDecision::Abort,
        }
    }
}

/// Arguments of `latch job cancel`.
#[derive(Args, Debug)]
pub struct JobCancelArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Reason; recorded with the request
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// Arguments of `latch job retry`.
#[derive(Args, Debug)]
pub struct JobRetryArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Reason; recorded with the request
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that makes the request [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// Arguments of `latch job undo`.
#[derive(Args, Debug)]
pub struct JobUndoArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Return immediately; a worker undoes the job
    #[arg(long)]
    pub detach: bool,
    /// Reason; recorded with the request
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// Arguments of `latch job fork`.
#[derive(Args, Debug)]
pub struct JobForkArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// First step to execute again; steps that depend on it are executed again too
    #[arg(long, value_name = "STEP", value_parser = step_id)]
    pub at: StepId,
    /// Replace the output of a copied step with JSON from a file, or - for stdin; steps that depend on it are
    /// executed again; may be repeated
    #[arg(long, value_name = "STEP=FILE", value_parser = step_file)]
    pub set: Vec<(StepId, PathBuf)>,
    /// Reason; recorded with the request
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that makes the request [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// Arguments of `latch job approve` and `latch job reject`.
#[derive(Args, Debug)]
pub struct JobGateArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The gated call, as shown by `latch job show`
    #[arg(value_name = "SLOT", value_parser = slot)]
    pub slot: Slot,
    /// Hash of the call that was reviewed; the command fails if the gate is for another call
    #[arg(long, value_name = "HASH", value_parser = hash)]
    pub hash: Option<Hash>,
    /// Sign the decision with this private key of `latch key new`; it has to be a key of the actor in `[people]`
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Reason; recorded with the decision
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that decides [default: the person who has the key; else the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// Arguments of `latch job confirm`.
#[derive(Args, Debug)]
pub struct JobConfirmArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The call whose effect could not be confirmed, as shown by `latch job show`
    #[arg(value_name = "SLOT", value_parser = slot)]
    pub slot: Slot,
    /// Only for finished jobs: record that the effect no longer exists, so that the next job that requests the
    /// action performs it again
    #[arg(long)]
    pub gone: bool,
    /// Reason; recorded with the decision
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// Arguments of `latch job signal`.
#[derive(Args, Debug)]
pub struct JobSignalArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Correlation key of the wait, as shown by `latch job show`
    #[arg(value_name = "KEY", value_parser = correlation_key)]
    pub key: String,
    /// Payload of the signal: JSON, a file with JSON, or - for stdin [default: null]
    #[arg(long, value_name = "FILE|JSON|-", allow_hyphen_values = true)]
    pub payload: Option<String>,
    /// Reason; recorded in the inbox
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Actor that sends the signal [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}
