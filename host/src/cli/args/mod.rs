//! Arguments of the command line, as clap structures. Their doc comments are the help texts.

mod author;
mod check;
mod dev;
mod evidence;
mod job;
mod new;
mod worker;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use latchwork_core::model::ids::{Hash, JobId, Slot, StepId};
use latchwork_core::model::job::JobState;
use latchwork_core::model::mode::Mode;

use crate::config::is_valid_name;

pub use author::{CallArgs, DocumentArg, EffectArg, InitArgs, SchemaArgs};
pub use check::PluginCheckArgs;
pub use dev::DevArgs;
pub use evidence::{JobExportArgs, KeyArgs, KeyCommand, KeyFileArgs, VerifyArgs};
pub use job::{
    CostsBy, JobArgs, JobCancelArgs, JobCommand, JobConfirmArgs, JobCostsArgs, JobEventsArgs, JobForkArgs, JobGateArgs,
    JobListArgs, JobOutputArgs, JobReplayArgs, JobResolveArgs, JobRetryArgs, JobShowArgs, JobSignalArgs, JobUndoArgs,
    JobWaitArgs, ResolveDecision,
};
pub use new::{LangArg, PluginNewArgs};
pub use worker::WorkerArgs;

const STYLES: Styles =
    Styles::styled().header(AnsiColor::Green.on_default().bold()).literal(AnsiColor::Cyan.on_default().bold());

/// WebAssembly plugins with durable execution: jobs survive crashes, and recorded calls are never repeated.
#[derive(Debug, Parser)]
#[command(name = "latch", version, styles = STYLES, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 success; 1 the command or the job failed; 2 usage, configuration or input error; \
                        3 stopped safely, a person has to act.\n`latch explain CODE` explains an error code."
)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Args, Debug)]
#[command(next_display_order = 1000)]
pub struct Global {
    /// Print the result as one JSON document on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Configuration file [default: LATCH_CONFIG, else ./latch.toml, else the nearest one at or above the
    /// plan]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Database URL, such as sqlite://latch.db; overrides LATCH_DATABASE and the configuration
    #[arg(long, global = true, value_name = "URL")]
    pub db: Option<String>,
    /// Log more to stderr: -v info, -vv debug, -vvv trace; LATCH_LOG sets filters instead
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Format of log lines on stderr
    #[arg(long, global = true, value_enum, default_value_t, env = "LATCH_LOG_FORMAT")]
    pub log_format: LogFormat,
}

/// Formats of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text for people
    #[default]
    Human,
    /// One JSON object per line
    Json,
}

/// The commands of `latch`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a project that is ready to run
    Init(InitArgs),
    /// Submit a plan and execute the job here
    Run(RunArgs),
    /// Call one operator as a job with one step
    Call(CallArgs),
    /// Watch the sources: after each change build, check and dry-run the plan
    Dev(DevArgs),
    /// Continue every unfinished job, or only the named one
    Resume(ResumeArgs),
    /// Claim and execute jobs until stopped
    Worker(WorkerArgs),
    /// Inspect jobs and decide about them
    Job(JobArgs),
    /// Check plans
    Plan(PlanArgs),
    /// Build, check and inspect plugins
    Plugin(PluginArgs),
    /// Print the JSON Schema of a document: plan, config, recipe, cases or request
    Schema(SchemaArgs),
    /// Verify an exported job offline: hash chain, ledger, effects, payloads and signature
    Verify(VerifyArgs),
    /// Create and show keys that sign evidence
    Key(KeyArgs),
    /// Explain an error code or a rule
    Explain(ExplainArgs),
    /// Check the configuration, database, plugins, toolchains and clock
    Doctor(DoctorArgs),
    /// Measure durable calls per second and compare them with the limits of this machine
    Bench(BenchArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
}

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

/// Values of a plan's parameters.
#[derive(Args, Debug, Default)]
pub struct ParameterArgs {
    /// Set one parameter; the value is JSON, otherwise text; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = named_value)]
    pub set: Vec<(String, String)>,
    /// Set parameters from a file with one JSON object, or - for stdin
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
}

/// Modes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ModeArg {
    /// Change nothing; show the calls that would be made
    DryRun,
    /// Do not write or send anything outside
    DraftOnly,
    /// Ask for approval before anything is written or sent outside
    HumanGated,
    /// Ask for approval only where the plan or the policy requires it
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

/// Arguments of `latch resume`.
#[derive(Args, Debug)]
pub struct ResumeArgs {
    /// Continue only this job [default: every unfinished job]
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: Option<JobId>,
}

/// Arguments of `latch plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: PlanCommand,
}

/// Commands of `latch plan`.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Check a plan and list every violation with its JSON pointer
    Check(PlanCheckArgs),
    /// Print the JSON Schema of plans
    Schema,
}

/// Arguments of `latch plan check`.
#[derive(Args, Debug)]
pub struct PlanCheckArgs {
    /// The plan: a JSON file, or - for stdin
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Skip the checks that need the plugins: unknown operators and undeclared effects
    #[arg(long)]
    pub no_plugins: bool,
    /// Print the normalized plan and list the fields that the plan leaves to their defaults
    #[arg(long)]
    pub explain: bool,
}

/// Arguments of `latch plugin`.
#[derive(Args, Debug)]
pub struct PluginArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: PluginCommand,
}

/// Commands of `latch plugin`.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Create a plugin project with tests
    New(PluginNewArgs),
    /// Build components from source and install the tools that the build needs
    Build(PluginBuildArgs),
    /// Show operators, schemas, imports, effects, digest, size and reachable resources of a component
    Inspect(PluginInspectArgs),
    /// Check a plugin for violations of determinism and of its contract; suitable as a CI gate
    Check(PluginCheckArgs),
    /// List the configured plugins
    List,
    /// Remove stored components that are neither configured nor needed by an unfinished job
    Prune,
    /// Print the path of the compiler for Rust plugins; install the compiler if it is missing
    Toolchain,
}

/// Arguments of `latch plugin build`.
#[derive(Args, Debug)]
pub struct PluginBuildArgs {
    /// Folders with a latch-plugin.toml [default: every plugin folder in the configuration]
    #[arg(value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
}

/// Arguments of `latch plugin inspect`.
#[derive(Args, Debug)]
pub struct PluginInspectArgs {
    /// A component file, or the folder of a built plugin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Do not run the component, not even to describe its operators
    #[arg(long = "static")]
    pub only_static: bool,
}

/// Arguments of `latch explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The code, such as L0003 or INDETERMINATE_EFFECT [default: list all codes]
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// Arguments of `latch doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Recompute every stored hash: jobs, effects, payloads, components and compiled code
    #[arg(long)]
    pub deep: bool,
    /// Accept a restored or cloned database as the one to use from now on
    #[arg(long)]
    pub accept_restore: bool,
}

/// Arguments of `latch bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Folder with the configuration of the benchmark plugins
    #[arg(value_name = "DIR", default_value = "example-plugins/bench")]
    pub dir: PathBuf,
    /// Run only this workload; may be repeated: ten, ten-read, ten-pure, ten-plan, zero
    #[arg(long, value_name = "NAME")]
    pub workload: Vec<String>,
    /// Number of concurrent jobs; may be repeated
    #[arg(long, value_name = "N", default_values_t = [1, 16, 64], value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub at_once: Vec<u32>,
    /// Duration of each measurement, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0, value_parser = seconds)]
    pub seconds: f64,
    /// Folder for the temporary databases, on the disk to measure [default: the configured state directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Measure worker processes on this PostgreSQL database; it must hold no other jobs
    #[arg(long, value_name = "URL", conflicts_with_all = ["at_once", "scratch"])]
    pub server: Option<String>,
    /// With --server: number of worker processes; may be repeated
    #[arg(long, value_name = "N", default_values_t = [1, 2, 4], value_parser = clap::value_parser!(u32).range(1..=64), requires = "server")]
    pub workers: Vec<u32>,
    /// With --server: number of jobs in each round
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..=100_000), requires = "server")]
    pub queue: u32,
}

fn seconds(text: &str) -> Result<f64, String> {
    let range = 0.05..=600.0;
    let seconds = text.parse().ok().filter(|seconds| range.contains(seconds));
    seconds.ok_or_else(|| format!("{text} is not a number of seconds from {} to {}", range.start(), range.end()))
}

/// Arguments of `latch completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `latch man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Folder for the manual pages
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

fn step_id(text: &str) -> Result<StepId, String> {
    if StepId::is_valid(text) {
        return Ok(StepId::new(text));
    }
    Err("a step id has 1 to 64 letters, digits, `_` or `-`".into())
}

fn step_file(text: &str) -> Result<(StepId, PathBuf), String> {
    let (step, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or("write STEP=FILE")?;
    Ok((step_id(step)?, PathBuf::from(file)))
}

fn named_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn slot(text: &str) -> Result<Slot, String> {
    let base = text.strip_suffix("~c").unwrap_or(text);
    let (step, call) = base.split_once('/').map_or((base, None), |(step, call)| (step, Some(call)));
    let call_is_number = call.is_none_or(|call| !call.is_empty() && call.bytes().all(|b| b.is_ascii_digit()));
    if StepId::is_valid(step) && call_is_number {
        return Ok(Slot::new(text));
    }
    Err("a slot is a step id, or a step id and a call number, such as `s6` or `s3/0`".into())
}

fn hash(text: &str) -> Result<Hash, String> {
    Hash::from_hex(text).ok_or_else(|| "a hash is 64 hexadecimal digits".into())
}

fn job_id(text: &str) -> Result<JobId, String> {
    let known = text
        .strip_prefix("job_")
        .is_some_and(|ulid| !ulid.is_empty() && ulid.bytes().all(|b| b.is_ascii_alphanumeric()));
    if known { Ok(JobId::new(text)) } else { Err("a job id is `job_` followed by letters and digits".into()) }
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "write a number and a unit, such as 30s, 5m or 1h30m".into())
}

fn correlation_key(text: &str) -> Result<String, String> {
    if latchwork_core::plan::wait::is_correlation_key(text) {
        return Ok(text.to_owned());
    }
    Err("a correlation key is 1 to 128 characters without control characters".into())
}

fn actor(text: &str) -> Result<String, String> {
    valid_name("an actor", text)
}

fn tenant(text: &str) -> Result<String, String> {
    valid_name("a tenant", text)
}

fn valid_name(what: &str, text: &str) -> Result<String, String> {
    match is_valid_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!("the name of {what} has 1 to 256 bytes and no control characters")),
    }
}

fn job_state(text: &str) -> Result<JobState, String> {
    JobState::parse(&text.to_ascii_uppercase()).ok_or_else(|| {
        let all: Vec<_> = JobState::ALL.iter().map(|state| state.as_str()).collect();
        format!("one of {}", all.join(", "))
    })
}
