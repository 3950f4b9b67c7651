//! `latch dev`: builds, checks and dry-runs the project after each change of a source.
//!
//! Each round builds and checks the changed plugins and dry-runs the plan on a scratch database. It then
//! shows how the output differs from the previous run.
//!
//! Builds, checks and runs are child processes, each in its own process group. An abandoned round therefore
//! leaves no process behind, and a plugin that hangs does not block this process. A change abandons the
//! current round and withdraws the question whether to run the plan live.

mod child;
mod difference;
mod project;
mod question;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use latchwork_core::pages;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::args::DevArgs;
use super::context::Context;
use super::error::{CliError, Exit, located};
use super::text::{Text, Tone};
use crate::build::RECIPE;
use child::Children;
use difference::{Line, Output};
use project::Project;
use question::Question;
use watch::Watched;

pub(super) async fn run(args: &DevArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    if args.live && !ctx.printer.can_ask() {
        let message = "--live asks before it runs the plan for real and needs a terminal to ask: use a terminal, or \
                       `latch run`";
        return Err(CliError::input(pages::USAGE, message).into());
    }
    let plan = ctx.cwd.join(&args.plan);
    super::source::file(&plan)?;
    let scratch = tempfile::Builder::new().prefix("latch-dev-").tempdir()?;
    let mut stop = Stop::new()?;
    let input = args.parameters.input.as_ref().map(|file| ctx.cwd.join(file));
    let project = Project { ctx, plan, input };
    let mut dev = Dev {
        args,
        ctx,
        project: &project,
        children: Children::new(scratch.path(), ctx, &args.parameters)?,
        question: Question::default(),
        before: None,
        built: BTreeMap::new(),
    };
    let exit = dev.rounds(&mut stop).await?;
    // Closing the folder deletes the scratch database.
    scratch.close()?;
    Ok(exit)
}

/// Signals that end the command.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    fn new() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Marker of a failed round. The reason was already shown.
struct Failed;

/// Result of a round, of the question after it, or of the live run.
enum End {
    /// A watched file differs from its state at the beginning of the round.
    Changed,
    /// The command was stopped by a signal.
    Stopped,
    /// The round ended, successfully or not.
    Over(Result<(), Failed>),
}

struct Dev<'d> {
    args: &'d DevArgs,
    ctx: &'d Context<'d>,
    project: &'d Project<'d>,
    children: Children,
    question: Question,
    /// Output of the last run that produced one.
    before: Option<Output>,
    /// Sources of each plugin folder as of its last successful build and check.
    built: BTreeMap<PathBuf, Watched>,
}

impl Dev<'_> {
    async fn rounds(&mut self, stop: &mut Stop) -> anyhow::Result<Exit> {
        loop {
            let watched = self.project.watched();
            match self.one(&watched, stop).await? {
                End::Changed => continue,
                End::Stopped => return Ok(self.stopped()),
                End::Over(round) if self.args.once => {
                    return Ok(if round.is_ok() { Exit::Done } else { Exit::Failed });
                }
                End::Over(_) => {}
            }
            let files = watched.len();
            self.ctx.printer.note(Tone::Quiet.of(format!("watching {files} files; press ctrl-c to stop")));
            tokio::select! {
                () = self.project.change(&watched) => {}
                () = stop.asked() => return Ok(self.stopped()),
            }
        }
    }

    fn stopped(&self) -> Exit {
        self.ctx.printer.note("stopped");
        Exit::Done
    }

    /// Runs one round, followed by the live run if requested.
    async fn one(&mut self, watched: &Watched, stop: &mut Stop) -> anyhow::Result<End> {
        let (project, once) = (self.project, self.args.once);
        let round = tokio::select! {
            round = self.round(watched) => round?,
            () = project.change(watched), if !once => return Ok(End::Changed),
            () = stop.asked() => return Ok(End::Stopped),
        };
        match round {
            Ok(()) if self.args.live && !once => self.live(watched, stop).await,
            round => Ok(End::Over(round)),
        }
    }

    async fn round(&mut self, watched: &Watched) -> anyhow::Result<Result<(), Failed>> {
        let config = match self.ctx.config(self.project.plan.parent()) {
            Ok(config) => config,
            Err(errors) => {
                self.ctx.printer.error(&CliError::from(&errors));
                return Ok(Err(Failed));
            }
        };
        let folders = config.plugins.iter().map(|plugin| &plugin.source).filter(|dir| dir.join(RECIPE).is_file());
        let dirs: Vec<_> = folders.cloned().collect();
        for dir in &dirs {
            let sources = watched.below(dir);
            if self.built.get(dir) == Some(&sources) {
                continue;
            }
            // A failed or abandoned build is repeated in the next round.
            self.built.remove(dir);
            if !self.check(dir).await? {
                return Ok(Err(Failed));
            }
            self.built.insert(dir.clone(), sources);
        }
        let response = self.children.dry_run(&self.project.plan, &config).await?;
        if let Some(error) = response.get("error") {
            self.refused(error);
            return Ok(Err(Failed));
        }
        let failed = response["state"] != "COMPLETED";
        self.show(&response);
        Ok(if failed { Err(Failed) } else { Ok(()) })
    }

    async fn check(&self, dir: &Path) -> anyhow::Result<bool> {
        let shown = self.project.shown(dir);
        let (passed, report) = self.children.check(dir).await?;
        match passed {
            true => self.ctx.printer.note(Tone::Good.of(format!("checked {shown}"))),
            // A plugin that could not be built has no report. The compiler has printed the reason.
            false if report.trim().is_empty() => {}
            false => self.ctx.printer.note(report.trim_end()),
        }
        Ok(passed)
    }

    /// Shows why a run was refused.
    fn refused(&self, error: &Value) {
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
                Some((pointer, at)) => located(pointer, at, &message),
                None => (pointer.or(problem["plugin"].as_str()).unwrap_or_default().to_owned(), message),
            };
            lines.push(Text::from("  ") + Tone::Title.of(place) + format!(": {message} [{code}]"));
        }
        self.ctx.printer.note(Text::lines(lines));
    }

    /// Shows the output of a run, or its difference to the previous run.
    fn show(&mut self, response: &Value) {
        let output = Output::of(response);
        if self.ctx.json {
            let changed = self.before.as_ref() != Some(&output);
            self.before = Some(output);
            return self.ctx.printer.line(&json!({ "changed": changed, "response": response }));
        }
        for line in output.against(self.before.as_ref()) {
            self.ctx.printer.say(match line {
                Line::Same(text) => Text::from(format!("  {text}")),
                Line::Gone(text) => Tone::Bad.of(format!("- {text}")),
                Line::Come(text) => Tone::Good.of(format!("+ {text}")),
                Line::Note(text) => Tone::Quiet.of(text),
            });
        }
        self.before = Some(output);
    }

    /// Asks whether to run the plan live, and runs it if the answer is yes.
    ///
    /// Only a plan that was dry-run is run. A change withdraws the question. An answer is refused if a file
    /// has changed unnoticed before it.
    async fn live(&mut self, watched: &Watched, stop: &mut Stop) -> anyhow::Result<End> {
        let printer = self.ctx.printer;
        printer.note(Tone::Attention.of("run it for real? [y]es, anything else: no"));
        let answer = tokio::select! {
            answer = self.question.answer() => answer?,
            () = self.project.change(watched) => {
                printer.note("not run for real: the question is withdrawn");
                return Ok(End::Changed);
            }
            () = stop.asked() => return Ok(End::Stopped),
        };
        if !matches!(answer.trim(), "y" | "yes") {
            return Ok(End::Over(Ok(())));
        }
        let now = self.project.watched();
        if now != *watched {
            self.project.say_changes(&now, watched);
            printer.note(Tone::Attention.of("not run for real: the files have changed since the dry run"));
            return Ok(End::Changed);
        }
        self.children.live(&self.project.plan).await?;
        Ok(End::Over(Ok(())))
    }
}
