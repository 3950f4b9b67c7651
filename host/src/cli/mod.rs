//! Command line: one file for each command, one printer, one conversion of errors into exit codes.
//!
//! This module is the composition root. Nothing else in the crate depends on it.

mod followed_job;
mod ineffective_settings;

mod admission;
pub mod args;
mod arguments;
mod bench;
mod bench_workers;
mod brief;
mod call;
mod catalog;
mod changed;
mod completions;
pub mod context;
mod dev;
mod doctor;
mod error;
mod event_text;
mod explain;
mod gates;
mod init;
mod interrupt;
mod job;
mod key;
mod live;
mod logging;
mod man;
mod open;
pub mod output;
mod parameters;
mod plan;
mod plugin;
mod record;
mod results;
mod resume;
mod run;
mod save;
mod schema;
mod source;
mod stderr;
pub mod text;
mod verify;
mod view;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Cli, Command, Global, LogFormat};
use clap::Parser;
pub use error::{CliError, CliProblem, Exit};

use context::Context;
use output::Printer;
use tracing::Level;

use crate::engine::CompilationStart;

/// Parses `args`, runs the command and returns its exit code. The first element of `args` is the program name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return report_parse_error(&args, &error).into(),
    };
    let Global { json, verbose, log_format, .. } = cli.global;
    let printer = Printer::new(json, log_format);
    if log_format == LogFormat::Json {
        record::install_panic_hook();
    }
    logging::start(verbose, log_format, printer.colors_stderr());
    crate::engine::on_compile(announce_compilation);
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

fn start(cli: Cli, printer: &Printer) -> anyhow::Result<Exit> {
    let ctx = Context::new(cli.global, printer)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let done = dispatch(cli.command, &ctx).await;
        open::close(ctx.exits_immediately()).await;
        done
    });
    // Does not wait for a pending read of the terminal. Such a read would keep the process alive.
    runtime.shutdown_background();
    done.map_err(|error| {
        let error = CliError::from(error);
        CliError { message: ctx.add_flags_to_commands(&error.message), ..error }.into()
    })
}

async fn dispatch(command: Command, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    match command {
        Command::Init(args) => init::run(&args, ctx),
        Command::Run(args) => run::run(args, ctx).await,
        Command::Dev(args) => dev::run(&args, ctx).await,
        Command::Call(args) => call::run(args, ctx).await,
        Command::Resume(args) => resume::run(args, ctx).await,
        Command::Worker(args) => worker::run(args, ctx).await,
        Command::Job(args) => job::run(args, ctx).await,
        Command::Plan(args) => plan::run(args, ctx).await,
        Command::Plugin(args) => plugin::run(args, ctx).await,
        Command::Schema(args) => Ok(schema::run(&args, ctx)),
        Command::Verify(args) => verify::run(args, ctx).await,
        Command::Key(args) => key::run(&args, ctx),
        Command::Explain(args) => explain::run(&args, ctx),
        Command::Doctor(args) => doctor::run(&args, ctx).await,
        Command::Bench(args) => bench::run(args, ctx).await,
        Command::Completions(args) => completions::run(&args, ctx),
        Command::Man(args) => man::run(&args, ctx),
    }
}

/// Announces a compilation, which takes seconds for large components.
fn announce_compilation(compiling: &CompilationStart<'_>) {
    let CompilationStart { plugin, bytes, remaining: left } = compiling;
    let left = if *left == 0 { String::new() } else { format!(", {left} left") };
    let text = format!("compiling {plugin} ({}){left}", output::size(*bytes));
    // A closed stderr must not prevent the compilation.
    let _ = stderr::write_text(Level::INFO, None, text.into());
}

/// Prints help and version as answers and every other parse result as a usage error.
fn report_parse_error(args: &[OsString], error: &clap::Error) -> Exit {
    // Parsing failed, so the flags are searched by hand, up to `--`.
    let flags = || args.iter().take_while(|arg| *arg != "--");
    let json = flags().any(|arg| arg == "--json");
    let form = flags().zip(flags().skip(1)).find(|(flag, _)| *flag == "--log-format").map(|(_, form)| form.clone());
    let form = form.or_else(|| std::env::var_os("LATCH_LOG_FORMAT"));
    let is_json = form.is_some_and(|form| form == "json") || flags().any(|arg| arg == "--log-format=json");
    let printer = Printer::new(json, if is_json { LogFormat::Json } else { LogFormat::Human });
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
