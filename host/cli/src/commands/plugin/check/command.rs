//! Checks each plugin and writes the reports.

use std::io::Read as _;
use std::path::Path;

use latchwork_core::model::error_docs;
use latchwork_tooling::check;
use latchwork_tooling::check::render::{CheckResult, FailedInput, Reports};
use latchwork_tooling::check::{CheckInputs, CheckReport, HistoryFile, OtherProcess, Subject};
use latchwork_tooling::inspect::ComponentInfo;

use crate::args::PluginCheckArgs;
use crate::commands::plugin::check::baseline::LoadedBaseline;
use crate::commands::plugin::check::configured_tools::ConfiguredTools;
use crate::commands::plugin::check::outputs::Outputs;
use crate::commands::plugin::check::phases::Phases;
use crate::commands::plugin::check::{input_errors, known_values, subject};
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::files::source;
use crate::plugins::catalog;
use crate::plugins::needed_grants::grants_needed;

pub(crate) async fn run(args: &PluginCheckArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    if args.other_process {
        return other_process(ctx).await;
    }
    if args.files.len() > 1 && (args.cases.is_some() || args.rebuilt.is_some()) {
        let flag = if args.cases.is_some() { "--cases" } else { "--rebuilt" };
        let message =
            format!("{flag} applies to one plugin, but {} are named: check them one by one", args.files.len());
        return Err(CliError::input(error_docs::USAGE, message).into());
    }
    let outputs = Outputs::of(args, ctx)?;
    let baseline = LoadedBaseline::read(args, ctx)?;
    let mut checked = Vec::new();
    for file in &args.files {
        if args.files.len() > 1 {
            ctx.printer.note(format!("checking {}", file.display()));
        }
        match check_plugin(args, ctx, file).await {
            Ok(report) => checked.push(CheckResult::Report(Box::new(report))),
            Err(error) => {
                let error = CliError::from(error);
                checked.push(CheckResult::Not(unchecked_report(file, &error)));
                if args.files.len() > 1 {
                    continue;
                }
                // Writes the report files even if the check was not possible, because other programs read them.
                outputs.write_files(ctx, &Reports(checked))?;
                return Err(error.into());
            }
        }
    }
    let mut reports = Reports(checked);
    if let Some(baseline) = baseline {
        baseline.apply(&mut reports)?;
    }
    outputs.write(ctx, &reports)?;
    Ok(match (reports.has_violations(), reports.has_failed_inputs()) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Usage,
        (false, false) => Exit::Done,
    })
}

/// Checks one plugin.
async fn check_plugin(args: &PluginCheckArgs, ctx: &CommandContext<'_>, file: &Path) -> anyhow::Result<CheckReport> {
    let phases = Phases::new(ctx);
    let target = subject::resolve_target(ctx, file)?;
    let bytes = source::file(&target.wasm)?;
    let config = ctx.config(target.dir.as_deref().or(target.wasm.parent()))?;
    let mut entry = subject::entry(&config, &target);
    let is_configured = config.plugins().iter().any(|plugin| plugin.source == entry.source);
    if !is_configured {
        // Assumes the grants that an unconfigured plugin needs. Without these grants, the imports of the plugin would
        // count as violations.
        entry.grants = grants_needed(&ComponentInfo::read(&bytes));
    }
    if let Some(wasi) = args.wasi {
        entry.wasi = wasi.into();
    }
    let cases = subject::cases(args, ctx, file, &target)?;
    let mut histories = Vec::new();
    for path in &args.history {
        histories.push(HistoryFile { file: path.display().to_string(), bytes: source::file(&ctx.cwd.join(path))? });
    }
    let rebuilt = subject::rebuilt(args, ctx, &target, &phases)?;
    let process = OtherProcess {
        program: std::env::current_exe()?,
        args: ["plugin", "check", "--other-process", "-"].map(str::to_owned).to_vec(),
        wasm: target.wasm.clone(),
        cache_dir: config.cache_dir().map(Path::to_owned),
        cache_secret_dir: config.cache_secret_dir().map(Path::to_owned),
    };
    let engine = catalog::engine(ctx.session(), &config)?;
    let settings = catalog::settings(&config, entry);
    let tools = ConfiguredTools::new(&engine, &config);
    let declaration_of = |operator: &str| tools.declaration(operator);
    let subject = Subject { file: &target.display_name, bytes: &bytes, settings, is_configured };
    let inputs = CheckInputs {
        cases: cases.as_ref().map(|(file, bytes)| (file.as_str(), bytes.as_slice())),
        histories: &histories,
        rebuilt: rebuilt.as_ref(),
        known: target.dir.as_deref().map(known_values::of_folder).unwrap_or_default(),
        declaration_of: Some(&declaration_of),
        process: Some(&process),
    };
    let checked = check::check(&engine, &subject, &inputs, &|phase| phases.begin(phase)).await;
    let file = cases.as_ref().map_or("", |(file, _)| file.as_str());
    let mut report = checked.map_err(|error| input_errors::input_error(file, error))?;
    report.accept_exceptions(&target.exceptions);
    phases.end();
    Ok(report)
}

/// Returns the report entry of an input that could not be checked.
fn unchecked_report(file: &Path, error: &CliError) -> FailedInput {
    let problems = error.problems.iter().map(|problem| format!("{}: {}", problem.location, problem.message)).collect();
    FailedInput { file: file.display().to_string(), code: error.code, message: error.message.clone(), problems }
}

/// Runs the second process of a check.
async fn other_process(ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let mut question = Vec::new();
    std::io::stdin().lock().read_to_end(&mut question)?;
    let respond = |line: &str| ctx.printer.raw(line);
    check::serve(&question, &respond).await.map_err(|why| CliError::input(error_docs::USAGE, why))?;
    Ok(Exit::Done)
}
