//! What may be written on the command line.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand, ValueEnum};
use latchwork_core::cost::By;
use latchwork_core::event::Mode;
use latchwork_core::ids::{Hash, JobId, Slot, StepId};
use latchwork_core::job::JobState;

mod check;
mod evidence;
mod new;
mod worker;

pub use check::PluginCheckArgs;
pub use evidence::{JobExportArgs, KeyArgs, KeyCommand, KeyFileArgs, VerifyArgs};
pub use new::PluginNewArgs;
pub use worker::WorkerArgs;

const STYLES: Styles =
    Styles::styled().header(AnsiColor::Green.on_default().bold()).literal(AnsiColor::Cyan.on_default().bold());

/// WebAssembly plugins with durable execution: a job survives any crash, and no committed call
/// is ever made twice.
#[derive(Debug, Parser)]
#[command(name = "latch", version, styles = STYLES, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done; 1 what was asked for failed; 2 usage, configuration or input error; \
                        3 stopped safely and needs someone.\n`latch explain CODE` tells about any code it prints.")]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Args, Debug)]
#[command(next_display_order = 1000)]
pub struct Global {
    /// Answer with one JSON document on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Configuration file; else LATCH_CONFIG, ./latch.toml, or one at or above the plan
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Database, such as sqlite://latch.db; wins over LATCH_DATABASE and the configuration
    #[arg(long, global = true, value_name = "URL")]
    pub db: Option<String>,
    /// Log more to stderr: -v info, -vv debug, -vvv trace; LATCH_LOG takes filters
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// How log lines are written
    #[arg(long, global = true, value_enum, default_value_t, env = "LATCH_LOG_FORMAT")]
    pub log_format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Human,
    /// One JSON object a line
    Json,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Submit a plan and execute it on the spot
    Run(RunArgs),
    /// Continue whatever was left behind
    Resume(ResumeArgs),
    /// Work on jobs until it is stopped: claim them, execute them, serve their timers
    Worker(WorkerArgs),
    /// Look at jobs and decide about them
    Job(JobArgs),
    /// Check plans
    Plan(PlanArgs),
    /// Build plugins and look at them
    Plugin(PluginArgs),
    /// Check an exported job offline: chain, ledger, effects, payloads, signature
    Verify(VerifyArgs),
    /// Keys that sign evidence
    Key(KeyArgs),
    /// Explain a code
    Explain(ExplainArgs),
    /// Check configuration, database, plugins, toolchains and clock
    Doctor(DoctorArgs),
    /// Measure durable calls per second, beside this machine's own limits
    Bench(BenchArgs),
    /// Print a completion script
    Completions(CompletionsArgs),
    /// Write manual pages
    Man(ManArgs),
}

/// `latch run`
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The plan, or a whole request with intent and plan: a JSON file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Build the configured plugins first
    #[arg(long)]
    pub build: bool,
    /// What the job may do
    #[arg(long, value_enum, ignore_case = true, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    /// Approve this step's gate beforehand; may be repeated
    #[arg(long, value_name = "STEP", value_parser = step_id)]
    pub approve: Vec<StepId>,
    /// Start another job, although the same request is known
    #[arg(long)]
    pub new: bool,
    /// Leave it to a worker: accept the job, execute nothing here
    #[arg(long)]
    pub detach: bool,
    /// How urgent it is, from -100 to 100: workers claim the highest first [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i16).range(-100..=100))]
    pub priority: Option<i16>,
    /// Who asks [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
    /// Whose house: its policy holds [default: default]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub tenant: Option<String>,
}

/// What a job may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ModeArg {
    /// Change nothing, show what would be done
    DryRun,
    /// Write and send nothing outside
    DraftOnly,
    /// Ask before anything is written or sent outside
    HumanGated,
    /// Ask only where the plan does
    AutoExec,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Mode {
        match mode {
            ModeArg::DryRun => Mode::DryRun,
            ModeArg::DraftOnly => Mode::DraftOnly,
            ModeArg::HumanGated => Mode::HumanGated,
            ModeArg::AutoExec => Mode::AutoExec,
        }
    }
}

/// `latch resume`
#[derive(Args, Debug)]
pub struct ResumeArgs {
    /// Only this job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: Option<JobId>,
}

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

/// `latch plan`
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PlanCommand,
}

/// Verbs of plans.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// List every violation by JSON pointer
    Check(PlanCheckArgs),
    /// Print the JSON Schema of plans
    Schema,
}

/// `latch plan check`
#[derive(Args, Debug)]
pub struct PlanCheckArgs {
    /// The plan: a JSON file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Leave out what needs the plugins: whether operators exist and effects suffice
    #[arg(long)]
    pub no_plugins: bool,
}

/// `latch plugin`
#[derive(Args, Debug)]
pub struct PluginArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PluginCommand,
}

/// Verbs of plugins.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Make a project that builds, tests itself and runs
    New(PluginNewArgs),
    /// Build a component from source, with whatever its toolchain needs
    Build(PluginBuildArgs),
    /// Operators, schemas, imports, effects, digest and size; what it may reach and what not
    Inspect(PluginInspectArgs),
    /// Find violations of determinism and contract before a job does: a gate for CI
    Check(PluginCheckArgs),
    /// The configured plugins
    List,
    /// Remove kept components that no configured plugin is and no unfinished job needs
    Prune,
    /// Print the compiler that builds Rust plugins, after installing it if it is missing
    Toolchain,
}

/// `latch plugin build`
#[derive(Args, Debug)]
pub struct PluginBuildArgs {
    /// Folders with a latch-plugin.toml [default: all that the configuration names]
    #[arg(value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
}

/// `latch plugin inspect`
#[derive(Args, Debug)]
pub struct PluginInspectArgs {
    /// A component, or the folder it was built in
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Run nothing of it, not even what describes its operators
    #[arg(long = "static")]
    pub only_static: bool,
}

/// `latch explain`
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The code, such as L0003 or INDETERMINATE_EFFECT; without it, all are listed
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// `latch doctor`
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Work with a restored or cloned database from now on
    #[arg(long)]
    pub accept_restore: bool,
}

/// `latch bench`
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// The folder with the configuration of the benchmark's plugins
    #[arg(value_name = "DIR", default_value = "example-plugins/bench")]
    pub dir: PathBuf,
    /// Only this workload; may be repeated: ten, ten-read, ten-pure, ten-plan, zero
    #[arg(long, value_name = "NAME")]
    pub workload: Vec<String>,
    /// So many jobs at once; may be repeated
    #[arg(long, value_name = "N", default_values_t = [1, 16, 64], value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub at_once: Vec<u32>,
    /// How long each measurement takes, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0, value_parser = seconds)]
    pub seconds: f64,
    /// Where the databases are made: the disk to measure [default: the configured state directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let range = 0.05..=600.0;
    let seconds = text.parse().ok().filter(|seconds| range.contains(seconds));
    seconds.ok_or_else(|| format!("{text} is not a number of seconds from {} to {}", range.start(), range.end()))
}

/// `latch completions`
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `latch man`
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Where the pages are written
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

fn step_id(text: &str) -> Result<StepId, String> {
    if StepId::is_valid(text) {
        return Ok(StepId::new(text));
    }
    Err("a step is named by 1 to 64 letters, digits, `_` and `-`".into())
}

fn step_file(text: &str) -> Result<(StepId, PathBuf), String> {
    let (step, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or("write STEP=FILE")?;
    Ok((step_id(step)?, PathBuf::from(file)))
}

fn slot(text: &str) -> Result<Slot, String> {
    let base = text.strip_suffix("~c").unwrap_or(text);
    let (step, call) = base.split_once('/').map_or((base, None), |(step, call)| (step, Some(call)));
    let call_is_number = call.is_none_or(|call| !call.is_empty() && call.bytes().all(|b| b.is_ascii_digit()));
    if StepId::is_valid(step) && call_is_number {
        return Ok(Slot::new(text));
    }
    Err("a slot is a step, or a step and the number of its call, such as `s6` or `s3/0`".into())
}

fn hash(text: &str) -> Result<Hash, String> {
    Hash::from_hex(text).ok_or_else(|| "a hash is 64 hexadecimal digits".into())
}

fn job_id(text: &str) -> Result<JobId, String> {
    let known = text
        .strip_prefix("job_")
        .is_some_and(|ulid| !ulid.is_empty() && ulid.bytes().all(|b| b.is_ascii_alphanumeric()));
    if known { Ok(JobId::new(text)) } else { Err("a job is named `job_` and letters and digits".into()) }
}

fn correlation_key(text: &str) -> Result<String, String> {
    if latchwork_core::wait::is_key(text) {
        return Ok(text.to_owned());
    }
    Err("a correlation key is 1 to 128 characters without control characters".into())
}

fn actor(text: &str) -> Result<String, String> {
    // Ids are joined by zero bytes where keys are made of them.
    if !text.is_empty() && text.len() <= 256 && !text.chars().any(char::is_control) {
        return Ok(text.to_owned());
    }
    Err("an actor is named by 1 to 256 bytes without control characters".into())
}

fn job_state(text: &str) -> Result<JobState, String> {
    JobState::parse(&text.to_ascii_uppercase()).ok_or_else(|| {
        let all: Vec<_> = JobState::ALL.iter().map(|state| state.as_str()).collect();
        format!("one of {}", all.join(", "))
    })
}
