//! The loop of `latch dev`: wait for a change, run a round, report its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use latchwork_core::model::error_docs;
use latchwork_tooling::build::RECIPE;

use crate::args::DevArgs;
use crate::commands::dev::child::ChildProcesses;
use crate::commands::dev::difference::{DiffLine, DryRunOutput};
use crate::commands::dev::project::Project;
use crate::commands::dev::question::Question;
use crate::commands::dev::watch::WatchedFiles;
use crate::context::CommandContext;
use crate::error::{CliError, Exit, split_location};
use crate::files::source;
use crate::text::{Text, Tone};

pub(crate) async fn run(args: &DevArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    if args.live && !ctx.printer.can_ask() {
        let message = "--live asks before it runs the plan for real and needs a terminal to ask: use a terminal, or \
                       `latch run`";
        return Err(CliError::input(error_docs::USAGE, message).into());
    }
    let plan = ctx.cwd.join(&args.plan);
    source::file(&plan)?;
    let scratch = tempfile::Builder::new().prefix("latch-dev-").tempdir()?;
    let mut stop = DevSignals::new()?;
    let input = args.parameters.input.as_ref().map(|file| ctx.cwd.join(file));
    let project = Project { ctx, plan, input };
    let mut dev = DevLoop {
        args,
        ctx,
        project: &project,
        children: ChildProcesses::new(scratch.path(), ctx, &args.parameters)?,
        question: Question::default(),
        previous_output: None,
        built_sources: BTreeMap::new(),
    };
    let exit = dev.rounds(&mut stop).await?;
    // Deletes the scratch folder and the database in it.
    scratch.close()?;
    Ok(exit)
}

/// Signals that end the command.
struct DevSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl DevSignals {
    fn new() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Marker of a failed round. The reason was already shown.
struct RoundFailed;

/// Result of one part of the loop: a round, the question about the live run, or the live run.
enum RoundEnd {
    /// A watched file differs from its state at the beginning of the round.
    Changed,
    /// A signal stopped the command.
    Stopped,
    /// The round ended, successfully or not.
    Over(Result<(), RoundFailed>),
}

struct DevLoop<'d> {
    args: &'d DevArgs,
    ctx: &'d CommandContext<'d>,
    project: &'d Project<'d>,
    children: ChildProcesses,
    question: Question,
    /// Output of the last dry run that produced an output.
    previous_output: Option<DryRunOutput>,
    /// Sources of each plugin folder as of its last successful build and check.
    built_sources: BTreeMap<PathBuf, WatchedFiles>,
}

impl DevLoop<'_> {
    async fn rounds(&mut self, stop: &mut DevSignals) -> anyhow::Result<Exit> {
        loop {
            let watched = self.project.watched();
            match self.round_and_live_run(&watched, stop).await? {
                RoundEnd::Changed => continue,
                RoundEnd::Stopped => return Ok(self.stopped()),
                RoundEnd::Over(round) if self.args.once => {
                    return Ok(if round.is_ok() { Exit::Done } else { Exit::Failed });
                }
                RoundEnd::Over(_) => {}
            }
            let files = watched.len();
            self.ctx.printer.note(Tone::Quiet.of(format!("watching {files} files; press ctrl-c to stop")));
            tokio::select! {
                () = self.project.wait_for_source_change(&watched) => {}
                () = stop.received() => return Ok(self.stopped()),
            }
        }
    }

    fn stopped(&self) -> Exit {
        self.ctx.printer.note("stopped");
        Exit::Done
    }

    /// Runs one round, followed by the live run if requested.
    async fn round_and_live_run(&mut self, watched: &WatchedFiles, stop: &mut DevSignals) -> anyhow::Result<RoundEnd> {
        let (project, once) = (self.project, self.args.once);
        let round = tokio::select! {
            round = self.round(watched) => round?,
            () = project.wait_for_source_change(watched), if !once => return Ok(RoundEnd::Changed),
            () = stop.received() => return Ok(RoundEnd::Stopped),
        };
        match round {
            Ok(()) if self.args.live && !once => self.ask_and_run_live(watched, stop).await,
            round => Ok(RoundEnd::Over(round)),
        }
    }

    async fn round(&mut self, watched: &WatchedFiles) -> anyhow::Result<Result<(), RoundFailed>> {
        let config = match self.ctx.config(self.project.plan.parent()) {
            Ok(config) => config,
            Err(errors) => {
                self.ctx.printer.error(&CliError::from(&errors));
                return Ok(Err(RoundFailed));
            }
        };
        let folders = config.plugins().iter().map(|plugin| &plugin.source).filter(|dir| dir.join(RECIPE).is_file());
        let dirs: Vec<_> = folders.cloned().collect();
        for dir in &dirs {
            let sources = watched.in_folder(dir);
            if self.built_sources.get(dir) == Some(&sources) {
                continue;
            }
            // Removes the entry before the build starts. The next round then repeats a failed or abandoned build.
            self.built_sources.remove(dir);
            if !self.check(dir).await? {
                return Ok(Err(RoundFailed));
            }
            self.built_sources.insert(dir.clone(), sources);
        }
        let response = self.children.dry_run(&self.project.plan, &config).await?;
        if let Some(error) = response.get("error") {
            self.show_refusal(error);
            return Ok(Err(RoundFailed));
        }
        let failed = response["state"] != "COMPLETED";
        self.show(&response);
        Ok(if failed { Err(RoundFailed) } else { Ok(()) })
    }

    async fn check(&self, dir: &Path) -> anyhow::Result<bool> {
        let displayed = self.project.display_path(dir);
        let (passed, report) = self.children.check(dir).await?;
        match passed {
            true => self.ctx.printer.note(Tone::Good.of(format!("checked {displayed}"))),
            // A plugin that could not be built has no report. The compiler has already printed the reason.
            false if report.trim().is_empty() => {}
            false => self.ctx.printer.note(report.trim_end()),
        }
        Ok(passed)
    }

    /// Shows why a run was refused.
    fn show_refusal(&self, error: &Value) {
        if self.ctx.json {
            return self.ctx.printer.line(&json!({ "error": error }));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let head = Tone::Bad.of(format!("error[{}]:", text(&error["code"])));
        let mut lines = vec![head + " " + text(&error["message"])];
        for problem in error["problems"].as_array().into_iter().flatten() {
            let (message, code) = (text(&problem["message"]), text(&problem["code"]));
            let pointer = problem["pointer"].as_str();
            let at = pointer.zip(problem["line"].as_u64().zip(problem["column"].as_u64()));
            let (place, message) = match at {
                Some((pointer, at)) => split_location(pointer, at, &message),
                None => (pointer.or(problem["plugin"].as_str()).unwrap_or_default().to_owned(), message),
            };
            lines.push(Text::from("  ") + Tone::Title.of(place) + format!(": {message} [{code}]"));
        }
        self.ctx.printer.note(Text::lines(lines));
    }

    /// Shows the output of a run, or its difference to the previous run.
    fn show(&mut self, response: &Value) {
        let output = DryRunOutput::of(response);
        if self.ctx.json {
            let changed = self.previous_output.as_ref() != Some(&output);
            self.previous_output = Some(output);
            return self.ctx.printer.line(&json!({ "changed": changed, "response": response }));
        }
        for line in output.diff_from(self.previous_output.as_ref()) {
            self.ctx.printer.print_text(match line {
                DiffLine::Same(text) => Text::from(format!("  {text}")),
                DiffLine::Removed(text) => Tone::Bad.of(format!("- {text}")),
                DiffLine::Added(text) => Tone::Good.of(format!("+ {text}")),
                DiffLine::Note(text) => Tone::Quiet.of(text),
            });
        }
        self.previous_output = Some(output);
    }

    /// Asks whether to run the plan live, and runs it if the answer is yes.
    ///
    /// The live run uses exactly the files of the dry run. If one of these files changes before the answer, the
    /// question is withdrawn. If the command notices a change only after the answer, it does not start the live run.
    async fn ask_and_run_live(&mut self, watched: &WatchedFiles, stop: &mut DevSignals) -> anyhow::Result<RoundEnd> {
        let printer = self.ctx.printer;
        printer.note(Tone::Attention.of("run it for real? [y]es, anything else: no"));
        let answer = tokio::select! {
            answer = self.question.answer() => answer?,
            () = self.project.wait_for_source_change(watched) => {
                printer.note("not run for real: the question is withdrawn");
                return Ok(RoundEnd::Changed);
            }
            () = stop.received() => return Ok(RoundEnd::Stopped),
        };
        if !matches!(answer.trim(), "y" | "yes") {
            return Ok(RoundEnd::Over(Ok(())));
        }
        let now = self.project.watched();
        if now != *watched {
            self.project.print_changed_files(&now, watched);
            printer.note(Tone::Attention.of("not run for real: the files have changed since the dry run"));
            return Ok(RoundEnd::Changed);
        }
        self.children.live(&self.project.plan).await?;
        Ok(RoundEnd::Over(Ok(())))
    }
}
