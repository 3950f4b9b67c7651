//! The command line: one verb a file, one printer, one place that turns errors into exit codes.
//!
//! This is the composition root. Nothing else in the crate depends on it.

pub mod args;
mod bench;
mod bench_workers;
mod catalog;
mod completions;
pub mod context;
mod doctor;
mod error;
mod explain;
mod gates;
mod job;
mod key;
mod live;
mod logging;
mod man;
mod open;
pub mod output;
mod plan;
mod plugin;
mod resume;
mod run;
mod unheeded;
mod verify;
mod view;
mod visible;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Cli, Command, Global};
use clap::Parser;
pub use error::{CliError, Exit, Problem};

use context::Context;
use output::Printer;

/// Parse `args` (the program's name first), do what they say, and say how it went.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&args, &error).into(),
    };
    let Global { json, verbose, log_format, .. } = cli.global;
    let printer = Printer::new(json);
    logging::start(verbose, log_format, printer.colors_stderr());
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
        open::close(ctx.hurries()).await;
        done
    });
    // A read of the terminal that nobody answered must not keep the process alive.
    runtime.shutdown_background();
    done
}

async fn dispatch(command: Command, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => run::run(args, ctx).await,
        Command::Resume(args) => resume::run(args, ctx).await,
        Command::Worker(args) => worker::run(args, ctx).await,
        Command::Job(args) => job::run(args, ctx).await,
        Command::Plan(args) => plan::run(args, ctx).await,
        Command::Plugin(args) => plugin::run(args, ctx).await,
        Command::Verify(args) => verify::run(args, ctx).await,
        Command::Key(args) => key::run(&args, ctx),
        Command::Explain(args) => explain::run(&args, ctx),
        Command::Doctor(args) => doctor::run(&args, ctx).await,
        Command::Bench(args) => bench::run(args, ctx).await,
        Command::Completions(args) => completions::run(&args, ctx),
        Command::Man(args) => man::run(&args, ctx),
    }
}

/// Help and version are answers, everything else is an error of usage.
fn not_parsed(args: &[OsString], error: &clap::Error) -> Exit {
    // Parsing failed, so the flag is looked for by hand, as far as flags may stand.
    let json = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let printer = Printer::new(json);
    if !error.use_stderr() {
        printer.raw(&error.render().to_string());
        return Exit::Done;
    }
    if json {
        printer.error(&CliError::usage(error));
    } else {
        printer.clap_error(error);
    }
    Exit::Usage
}
