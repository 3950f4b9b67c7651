//! What may be written on the command line.

use crate::config::is_name;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use latchwork_core::event::Mode;
use latchwork_core::ids::{Hash, JobId, Slot, StepId};
use latchwork_core::job::JobState;

mod author;
mod check;
mod dev;
mod evidence;
mod job;
mod new;
mod worker;

pub use author::{CallArgs, DocumentArg, EffectArg, InitArgs, SchemaArgs};
pub use check::PluginCheckArgs;
pub use dev::DevArgs;
pub use evidence::{JobExportArgs, KeyArgs, KeyCommand, KeyFileArgs, VerifyArgs};
pub use job::{
    CostsBy, JobArgs, JobCancelArgs, JobCommand, JobConfirmArgs, JobCostsArgs, JobEventsArgs, JobForkArgs, JobGateArgs,
    JobListArgs, JobOutputArgs, JobReplayArgs, JobResolveArgs, JobRetryArgs, JobShowArgs, JobSignalArgs, JobUndoArgs,
    JobWaitArgs, Verdict,
};
pub use new::{LangArg, PluginNewArgs};
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
    /// Make a project that runs at once
    Init(InitArgs),
    /// Submit a plan and execute it on the spot
    Run(RunArgs),
    /// Call one operator: a job of one step
    Call(CallArgs),
    /// Watch sources: build, check and run anew after each change, changing nothing
    Dev(DevArgs),
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
    /// Print the JSON Schema of a document: plan, config, recipe, cases, request
    Schema(SchemaArgs),
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
    /// The plan, or a whole request with intent and plan: a JSON file, or - for stdin
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Values of the plan's parameters.
    #[command(flatten)]
    pub parameters: ParameterArgs,
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
    #[arg(long, value_name = "NAME", value_parser = tenant)]
    pub tenant: Option<String>,
    /// Use a database in this folder and forget the configured one: for `latch dev`
    #[arg(long, value_name = "DIR", hide = true)]
    pub scratch: Option<PathBuf>,
}

/// Values of a plan's parameters.
#[derive(Args, Debug, Default)]
pub struct ParameterArgs {
    /// Give a parameter a value: JSON, or text; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = named_value)]
    pub set: Vec<(String, String)>,
    /// Give parameters their values: a file with a JSON object, or - for stdin
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
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
    /// The plan: a JSON file, or - for stdin
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Leave out what needs the plugins: whether operators exist and effects suffice
    #[arg(long)]
    pub no_plugins: bool,
    /// Show the normal form, and what of it the plan leaves out
    #[arg(long)]
    pub explain: bool,
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
    /// Compute every stored hash again: jobs, effects, payloads, components, compiled code
    #[arg(long)]
    pub deep: bool,
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
    /// Measure worker processes that share this PostgreSQL database, which is the benchmark's own
    #[arg(long, value_name = "URL", conflicts_with_all = ["at_once", "scratch"])]
    pub server: Option<String>,
    /// With --server: so many workers; may be repeated
    #[arg(long, value_name = "N", default_values_t = [1, 2, 4], value_parser = clap::value_parser!(u32).range(1..=64), requires = "server")]
    pub workers: Vec<u32>,
    /// With --server: jobs of each round
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..=100_000), requires = "server")]
    pub queue: u32,
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

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "write a number and a unit, such as 30s, 5m or 1h30m".into())
}

fn correlation_key(text: &str) -> Result<String, String> {
    if latchwork_core::wait::is_key(text) {
        return Ok(text.to_owned());
    }
    Err("a correlation key is 1 to 128 characters without control characters".into())
}

fn actor(text: &str) -> Result<String, String> {
    named("an actor", text)
}

fn tenant(text: &str) -> Result<String, String> {
    named("a tenant", text)
}

fn named(what: &str, text: &str) -> Result<String, String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!("{what} is named by 1 to 256 bytes without control characters")),
    }
}

fn job_state(text: &str) -> Result<JobState, String> {
    JobState::parse(&text.to_ascii_uppercase()).ok_or_else(|| {
        let all: Vec<_> = JobState::ALL.iter().map(|state| state.as_str()).collect();
        format!("one of {}", all.join(", "))
    })
}
