//! Arguments of the command line, as clap structures. Their doc comments are the help texts.
//!
//! Floors, top first: `cli` · `dev`, `job`, `run` · `author`, `evidence`, `parameters`, `plugin` · `bench`, `check`,
//! `doctor`, `log_format`, `mode`, `new`, `parsers`, `plan`, `reference`, `worker`.

mod author;
mod bench;
mod check;
mod cli;
mod dev;
mod doctor;
mod evidence;
mod job;
mod log_format;
mod mode;
mod new;
mod parameters;
mod parsers;
mod plan;
mod plugin;
mod reference;
mod run;
mod worker;

pub use author::{CallArgs, DocumentArg, EffectArg, InitArgs, SchemaArgs};
pub use bench::BenchArgs;
pub use check::PluginCheckArgs;
pub use cli::{Cli, Command, Global};
pub use dev::DevArgs;
pub use doctor::DoctorArgs;
pub use evidence::{JobExportArgs, KeyArgs, KeyCommand, KeyFileArgs, VerifyArgs};
pub use job::{
    CostsBy, JobArgs, JobCancelArgs, JobCommand, JobConfirmArgs, JobCostsArgs, JobEventsArgs, JobForkArgs, JobGateArgs,
    JobListArgs, JobOutputArgs, JobReplayArgs, JobResolveArgs, JobRetryArgs, JobShowArgs, JobSignalArgs, JobUndoArgs,
    JobWaitArgs, ResolveDecision,
};
pub use log_format::LogFormat;
pub use mode::ModeArg;
pub use new::{LangArg, PluginNewArgs};
pub use parameters::ParameterArgs;
pub use plan::{PlanArgs, PlanCheckArgs, PlanCommand};
pub use plugin::{PluginArgs, PluginBuildArgs, PluginCommand, PluginInspectArgs};
pub use reference::{CompletionsArgs, ExplainArgs, ManArgs};
pub use run::{ResumeArgs, RunArgs};
pub use worker::WorkerArgs;
