//! The command line as a whole: commands and global flags.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, Parser, Subcommand};

use crate::args::author::{CallArgs, InitArgs, SchemaArgs};
use crate::args::bench::BenchArgs;
use crate::args::dev::DevArgs;
use crate::args::doctor::DoctorArgs;
use crate::args::evidence::{KeyArgs, VerifyArgs};
use crate::args::job::JobArgs;
use crate::args::log_format::LogFormat;
use crate::args::plan::PlanArgs;
use crate::args::plugin::PluginArgs;
use crate::args::reference::{CompletionsArgs, ExplainArgs, ManArgs};
use crate::args::run::{ResumeArgs, RunArgs};
use crate::args::worker::WorkerArgs;

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
