//! `latch job`

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use latchwork_core::cost::By;
use latchwork_core::ids::{Hash, JobId, Slot, StepId};
use latchwork_core::job::JobState;

use super::{JobExportArgs, actor, correlation_key, duration, hash, job_id, job_state, slot, step_file, step_id};

/// `latch job`
#[derive(Args, Debug)]
pub struct JobArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: JobCommand,
}

/// Verbs of jobs.
#[derive(Debug, Subcommand)]
pub enum JobCommand {
    /// Jobs, the newest first
    List(JobListArgs),
    /// Where a job stands, and what can be done next
    Show(JobShowArgs),
    /// What the steps of a job returned, byte for byte
    Output(JobOutputArgs),
    /// Wait until a job is over or needs a person
    Wait(JobWaitArgs),
    /// What happened to a job, in order
    Events(JobEventsArgs),
    /// What calls have cost, by job, by actor and day, or by tenant and month
    Costs(JobCostsArgs),
    /// Re-drive a job from its log, executing nothing
    Replay(JobReplayArgs),
    /// Write what happened to a job as one file that can be verified offline
    Export(JobExportArgs),
    /// Say what became of a call in doubt, or go on with a stopped job
    Resolve(JobResolveArgs),
    /// Cancel a job; calls in flight are resolved first
    Cancel(JobCancelArgs),
    /// Try again what failed in a job that is over; what succeeded stays
    Retry(JobRetryArgs),
    /// Undo what a finished job did, the last effect first
    Undo(JobUndoArgs),
    /// Start another job from the middle of this one; what was done before is copied
    Fork(JobForkArgs),
    /// Approve the exact call that a gate shows
    Approve(JobGateArgs),
    /// Refuse the call that a gate shows
    Reject(JobGateArgs),
    /// Take what an earlier call changed as it is now
    Confirm(JobConfirmArgs),
    /// Send a wait step what it waits for
    Signal(JobSignalArgs),
}

/// `latch job list`
#[derive(Args, Debug)]
pub struct JobListArgs {
    /// Only jobs in this state
    #[arg(long, value_name = "STATE", value_parser = job_state)]
    pub state: Option<JobState>,
    /// Only jobs that are not over
    #[arg(long)]
    pub open: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// `latch job show`
#[derive(Args, Debug)]
pub struct JobShowArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
}

/// `latch job output`
#[derive(Args, Debug)]
pub struct JobOutputArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The step [default: the steps that no other step depends on; several of them make one JSON object]
    #[arg(value_name = "STEP", value_parser = step_id)]
    pub step: Option<StepId>,
}

/// `latch job wait`
#[derive(Args, Debug)]
pub struct JobWaitArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Wait at most so long, such as 30s or 5m: then the command ends with exit code 3
    #[arg(long, value_name = "D", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// `latch job events`
#[derive(Args, Debug)]
pub struct JobEventsArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Go on until the job is over or stops
    #[arg(long)]
    pub follow: bool,
    /// Start behind this event
    #[arg(long, value_name = "SEQ")]
    pub after: Option<u64>,
}

/// `latch job replay`
#[derive(Args, Debug)]
pub struct JobReplayArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id, required_unless_present = "all", conflicts_with = "all")]
    pub job: Option<JobId>,
    /// Every job of the database
    #[arg(long)]
    pub all: bool,
    /// Replay every prefix of the log, as if the job had been killed after each event
    #[arg(long)]
    pub every_prefix: bool,
}

/// `latch job costs`
#[derive(Args, Debug)]
pub struct JobCostsArgs {
    /// The calls of this job, one by one
    #[arg(value_name = "JOB", value_parser = job_id, conflicts_with = "by")]
    pub job: Option<JobId>,
    /// How costs are summed
    #[arg(long, value_enum, value_name = "GROUP", default_value = "job")]
    pub by: CostsBy,
}

/// Groups of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CostsBy {
    /// Each job
    Job,
    /// Each actor on each day
    ActorDay,
    /// Each tenant in each month
    TenantMonth,
}

impl From<CostsBy> for By {
    fn from(by: CostsBy) -> By {
        match by {
            CostsBy::Job => By::Job,
            CostsBy::ActorDay => By::ActorDay,
            CostsBy::TenantMonth => By::TenantMonth,
        }
    }
}

/// `latch job resolve`
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("verdict").required(true).args(["applied", "not_applied", "abort", "go_on"]))]
pub struct JobResolveArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The call in doubt, as `latch job show` names it; without it the verdict is on the whole job
    #[arg(value_name = "SLOT", value_parser = slot, required_unless_present_any = ["go_on", "abort"])]
    pub slot: Option<Slot>,
    /// It happened: the file holds its result as JSON, - is stdin
    #[arg(long, value_name = "FILE", requires = "slot")]
    pub applied: Option<PathBuf>,
    /// It certainly did not happen: it is executed again
    #[arg(long, requires = "slot")]
    pub not_applied: bool,
    /// With SLOT: nobody will find out, the call counts as lost. Without: fail the job
    #[arg(long)]
    pub abort: bool,
    /// Go on with a parked or diverged job
    #[arg(long = "continue", conflicts_with = "slot")]
    pub go_on: bool,
    /// Why: recorded with the verdict
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// What `latch job resolve` was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call happened; its result is in this file.
    Applied(Slot, PathBuf),
    /// The call did not happen.
    NotApplied(Slot),
    /// The call is lost.
    Lost(Slot),
    /// The job goes on.
    Continue,
    /// The job fails.
    Abort,
}

impl JobResolveArgs {
    /// The verdict; the parser has made sure that there is exactly one.
    pub fn verdict(&self) -> Verdict {
        match (&self.slot, &self.applied) {
            (Some(slot), Some(file)) => Verdict::Applied(slot.clone(), file.clone()),
            (Some(slot), None) if self.not_applied => Verdict::NotApplied(slot.clone()),
            (Some(slot), None) => Verdict::Lost(slot.clone()),
            (None, _) if self.go_on => Verdict::Continue,
            (None, _) => Verdict::Abort,
        }
    }
}

/// `latch job cancel`
#[derive(Args, Debug)]
pub struct JobCancelArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Why: recorded
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// `latch job retry`
#[derive(Args, Debug)]
pub struct JobRetryArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Why: recorded
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who asks [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// `latch job undo`
#[derive(Args, Debug)]
pub struct JobUndoArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Leave the work to a worker and return at once
    #[arg(long)]
    pub detach: bool,
    /// Why: recorded
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// `latch job fork`
#[derive(Args, Debug)]
pub struct JobForkArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// From this step on everything is executed again
    #[arg(long, value_name = "STEP", value_parser = step_id)]
    pub at: StepId,
    /// Give a copied step another output, as JSON, - is stdin; may be repeated. What depends on it
    /// is executed again
    #[arg(long, value_name = "STEP=FILE", value_parser = step_file)]
    pub set: Vec<(StepId, PathBuf)>,
    /// Why: recorded
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who asks [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// `latch job approve` and `latch job reject`
#[derive(Args, Debug)]
pub struct JobGateArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The gated call, as `latch job show` names it
    #[arg(value_name = "SLOT", value_parser = slot)]
    pub slot: Slot,
    /// Hash of the call that was shown: refused where the gate has another one
    #[arg(long, value_name = "HASH", value_parser = hash)]
    pub hash: Option<Hash>,
    /// Why: recorded
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// `latch job confirm`
#[derive(Args, Debug)]
pub struct JobConfirmArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The call whose effect could not be confirmed, as `latch job show` names it
    #[arg(value_name = "SLOT", value_parser = slot)]
    pub slot: Slot,
    /// The effect is gone for good, instead of taken as it is now: the next job that asks for the action performs it (jobs that are over)
    #[arg(long)]
    pub gone: bool,
    /// Why: recorded
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who decides [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}

/// `latch job signal`
#[derive(Args, Debug)]
pub struct JobSignalArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// The wait's correlation key, as `latch job show` names it
    #[arg(value_name = "KEY", value_parser = correlation_key)]
    pub key: String,
    /// What the signal carries: JSON, or a file with JSON, or - for stdin [default: null]
    #[arg(long, value_name = "FILE|JSON|-", allow_hyphen_values = true)]
    pub payload: Option<String>,
    /// Why: recorded in the inbox
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Who sends it [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
}
