//! Command line: one file for each command, one printer, one conversion of errors into exit codes.
//!
//! This crate is the composition root: it names all other crates, and no crate depends on it.
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle. No command imports another command. This file stands above the floors: it parses the arguments
//! and starts the command. The test `floors` checks the rules.
//!
//! | floor | content |
//! |---|---|
//! | `commands` | the commands, one file or folder each |
//! | `bench` | benchmarks |
//! | `execution` | jobs that a command executes: submission, attachment, questions about gates, results |
//! | `stored_job` | a stored job: loading, display, requests to its inbox |
//! | `live` | live view of a job, executed here or by another process |
//! | `display` | text about jobs: responses, gates, changed plugins, results, events |
//! | `plugins` | plugins of a configuration: loading, admission of plans, builds |
//! | `files` | files that a command reads and writes |
//! | `open` | stores and hosts of a configuration |
//! | `crash_points` | crash points of tests |
//! | [`context`] | context that every command receives: global flags, configuration, printer |
//! | `session` | state of one command: clock, entropy, opened databases, owner lock |
//! | [`output`] | writing to stdout and stderr |
//! | `error` | errors, their conversion, exit status |
//! | `interrupt` | ctrl-c |
//! | [`text`] | text that is safe on a terminal: tones, wrapped lines, tables |
//! | [`args`] | arguments, as clap structures, with parsers of their values |

pub mod args;
pub mod bench;
mod commands;
pub mod context;
mod crash_points;
mod display;
mod error;
mod execution;
mod files;
mod interrupt;
mod live;
mod open;
pub mod output;
mod plugins;
mod session;
mod stored_job;
pub mod text;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, Global, LogFormat};
use context::CommandContext;
use latchwork_engine::os::{Machine, private_memory};
use output::{Printer, RecordFormat};

pub use error::{CliError, CliProblem, Exit};

/// Parses `args`, runs the command and returns its exit code. The first element of `args` is the program name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let records = RecordFormat::new(Machine::system());
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return report_parse_error(&args, &error, records).into(),
    };
    let Global { json, verbose, log_format, .. } = cli.global;
    let printer = Printer::new(json, log_format, records.clone());
    if log_format == LogFormat::Json {
        output::install_panic_hook(records.clone());
    }
    output::start_logging(verbose, log_format, printer.colors_stderr(), records);
    let exit = match start(cli, &printer) {
        Ok(exit) => exit,
        Err(error) => {
            let error = CliError::from(error);
            printer.error(&error);
            error.exit
        }
    };
    match printer.finish() {
        Ok(()) => exit.into(),
        Err(error) => {
            printer.error(&error);
            error.exit.into()
        }
    }
}

/// Raises the process's limit of open files to the highest limit that its user may set. Many jobs need many connections
/// and files, and the usual limit is 1,024. If the system refuses, the limit stays unchanged.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum
        && let Err(error) = setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit })
    {
        tracing::debug!("the limit of open files stays at {:?}: {error}", limit.current);
    }
}

/// Keeps the secrets in the memory and in the variables of this process from programs of the same user. The programs of
/// a build are such programs, and so is every other program that the user starts.
fn make_memory_private() {
    if let Err(error) = private_memory::make_private() {
        tracing::warn!("other programs of this user can read the secrets of this process: {error}");
    }
}

fn start(cli: Cli, printer: &Printer) -> anyhow::Result<Exit> {
    make_memory_private();
    raise_descriptor_limit();
    let ctx = CommandContext::new(cli.global, printer)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let done = dispatch(cli.command, &ctx).await;
        ctx.session().close(ctx.exits_immediately()).await;
        done
    });
    // A pending read of the terminal would keep the process alive, so the runtime does not wait for it.
    runtime.shutdown_background();
    done.map_err(|error| {
        let error = CliError::from(error);
        CliError { message: ctx.add_flags_to_commands(&error.message), ..error }.into()
    })
}

async fn dispatch(command: Command, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    match command {
        Command::Init(args) => commands::init::run(&args, ctx),
        Command::Run(args) => commands::run::run(args, ctx).await,
        Command::Dev(args) => commands::dev::run(&args, ctx).await,
        Command::Call(args) => commands::call::run(args, ctx).await,
        Command::Resume(args) => commands::resume::run(args, ctx).await,
        Command::Worker(args) => commands::worker::run(args, ctx).await,
        Command::Job(args) => commands::job::run(args, ctx).await,
        Command::Plan(args) => commands::plan::run(args, ctx).await,
        Command::Plugin(args) => commands::plugin::run(args, ctx).await,
        Command::Schema(args) => Ok(commands::schema::run(&args, ctx)),
        Command::Verify(args) => commands::verify::run(args, ctx).await,
        Command::Key(args) => commands::key::run(&args, ctx),
        Command::Explain(args) => commands::explain::run(&args, ctx),
        Command::Doctor(args) => commands::doctor::run(&args, ctx).await,
        Command::Bench(args) => commands::bench::run(args, ctx).await,
        Command::Completions(args) => commands::completions::run(&args, ctx),
        Command::Man(args) => commands::man::run(&args, ctx),
    }
}

/// Prints help and version as answers. Prints every other parse result as a usage error.
fn report_parse_error(args: &[OsString], error: &clap::Error, records: RecordFormat) -> Exit {
    // Searches the flags by hand up to `--`, because parsing failed.
    let flags = || args.iter().take_while(|arg| *arg != "--");
    let json = flags().any(|arg| arg == "--json");
    let form = flags().zip(flags().skip(1)).find(|(flag, _)| *flag == "--log-format").map(|(_, form)| form.clone());
    let form = form.or_else(|| std::env::var_os("LATCH_LOG_FORMAT"));
    let is_json = form.is_some_and(|form| form == "json") || flags().any(|arg| arg == "--log-format=json");
    let printer = Printer::new(json, if is_json { LogFormat::Json } else { LogFormat::Human }, records);
    if !error.use_stderr() {
        printer.raw(&error.render().to_string());
        return match printer.finish() {
            Ok(()) => Exit::Done,
            Err(error) => {
                printer.error(&error);
                error.exit
            }
        };
    }
    if json || is_json {
        printer.error(&CliError::usage(error));
    } else {
        printer.clap_error(error);
    }
    Exit::Usage
}
