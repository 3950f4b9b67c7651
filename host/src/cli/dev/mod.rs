//! `latch dev`: after each change of a source, builds and checks what changed, runs the plan anew as a dry run on a
//! scratch database, and shows how its output differs from the run before.
//!
//! Builds, checks and runs are processes of their own, each a process group: a round that is interrupted leaves
//! nothing behind, and a plugin that hangs takes nothing with it.

mod child;
mod difference;
mod watch;

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use latchwork_core::pages;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::args::DevArgs;
use super::context::Context;
use super::error::{CliError, Exit};
use super::text::{Text, Tone};
use crate::build::RECIPE;
use child::Children;
use difference::{Line, Output};
use watch::Watched;

/// Between two looks at the sources.
const LOOK: Duration = Duration::from_millis(300);

pub(super) async fn run(args: &DevArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    if args.live && !ctx.printer.can_ask() {
        let message = "--live asks before it runs the plan for real, and nobody can be asked here: use a terminal, or \
                       `latch run`";
        return Err(CliError::input(pages::USAGE, message).into());
    }
    let plan = ctx.cwd.join(&args.plan);
    super::source::file(&plan)?;
    let scratch = tempfile::Builder::new().prefix("latch-dev-").tempdir()?;
    let mut stop = Stop::new()?;
    let mut dev = Dev {
        args,
        ctx,
        plan,
        children: Children::new(scratch.path(), ctx, &args.parameters)?,
        before: None,
        built: None,
    };
    let exit = dev.rounds(&mut stop).await?;
    // The scratch database goes with its folder.
    scratch.close()?;
    Ok(exit)
}

/// What ends the command.
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

/// Why a round came to nothing; it was shown.
struct Failed;

struct Dev<'d> {
    args: &'d DevArgs,
    ctx: &'d Context<'d>,
    plan: PathBuf,
    children: Children,
    /// The output of the last run that had one.
    before: Option<Output>,
    /// The sources as they were when each plugin's folder was built and checked.
    built: Option<Watched>,
}

impl Dev<'_> {
    async fn rounds(&mut self, stop: &mut Stop) -> anyhow::Result<Exit> {
        loop {
            let watched = self.watched();
            let round = tokio::select! {
                round = self.round(&watched) => round?,
                () = stop.asked() => return Ok(Exit::Done),
            };
            if self.args.once {
                return Ok(if round.is_ok() { Exit::Done } else { Exit::Failed });
            }
            if round.is_ok() && self.args.live && self.live(stop).await? {
                return Ok(Exit::Done);
            }
            let files = watched.len();
            self.ctx.printer.note(Tone::Quiet.of(format!("watching {files} files; ctrl-c ends")));
            tokio::select! {
                () = self.change(&watched) => {}
                () = stop.asked() => {
                    self.ctx.printer.note("stopped");
                    return Ok(Exit::Done);
                }
            }
        }
    }

    /// Returns when something has changed and nothing changes any more: editors write in several steps.
    async fn change(&self, before: &Watched) {
        let mut last = before.clone();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.watched();
            if now == last && now != *before {
                for path in now.changes(before).iter().take(3) {
                    self.ctx.printer.note(Tone::Title.of(format!("changed: {}", self.shown(path))));
                }
                return;
            }
            last = now;
        }
    }

    /// The plan, the configuration, and each plugin's component or folder. A configuration that cannot be read is
    /// watched until it can.
    fn watched(&self) -> Watched {
        let mut watched = Watched::default();
        watched.file(&self.plan);
        match self.ctx.config(self.plan.parent()) {
            Ok(config) => {
                if let Some(file) = &config.file {
                    watched.file(file);
                }
                for plugin in &config.plugins {
                    watched.source(&plugin.source);
                }
            }
            Err(errors) => {
                for problem in &errors.0 {
                    if let crate::config::Origin::File { path, .. } | crate::config::Origin::WholeFile(path) =
                        &problem.origin
                    {
                        watched.file(path);
                    }
                }
            }
        }
        watched
    }

    async fn round(&mut self, watched: &Watched) -> anyhow::Result<Result<(), Failed>> {
        let config = match self.ctx.config(self.plan.parent()) {
            Ok(config) => config,
            Err(errors) => {
                self.ctx.printer.error(&CliError::from(&errors));
                return Ok(Err(Failed));
            }
        };
        let folders = config.plugins.iter().map(|plugin| &plugin.source).filter(|dir| dir.join(RECIPE).is_file());
        let changed: Vec<_> = folders
            .filter(|dir| self.built.as_ref().is_none_or(|built| built.below(dir) != watched.below(dir)))
            .cloned()
            .collect();
        // What fails is built again in the next round.
        let before = self.built.take();
        for dir in &changed {
            if !self.check(dir).await? {
                self.built = before;
                return Ok(Err(Failed));
            }
        }
        self.built = Some(watched.clone());
        let response = self.children.dry_run(&self.plan, &config).await?;
        if let Some(error) = response.get("error") {
            self.refused(error);
            return Ok(Err(Failed));
        }
        let failed = response["state"] != "COMPLETED";
        self.show(&response);
        Ok(if failed { Err(Failed) } else { Ok(()) })
    }

    async fn check(&self, dir: &Path) -> anyhow::Result<bool> {
        let shown = self.shown(dir);
        let (passed, report) = self.children.check(dir).await?;
        match passed {
            true => self.ctx.printer.note(Tone::Good.of(format!("checked {shown}"))),
            // A plugin that could not be built has no report; the compiler has said why.
            false if report.trim().is_empty() => {}
            false => self.ctx.printer.note(report.trim_end()),
        }
        Ok(passed)
    }

    /// Why a run did not begin.
    fn refused(&self, error: &Value) {
        if self.ctx.json {
            return self.ctx.printer.line(&json!({ "error": error }));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let head = Tone::Bad.of(format!("error[{}]:", text(&error["code"])));
        let mut lines = vec![head + " " + text(&error["message"])];
        for problem in error["problems"].as_array().into_iter().flatten() {
            let place = match (problem["line"].as_u64(), problem["column"].as_u64()) {
                (Some(line), Some(column)) => format!("{line}:{column} "),
                _ => String::new(),
            };
            let pointer = problem["pointer"].as_str().or(problem["plugin"].as_str()).unwrap_or_default();
            let (message, code) = (text(&problem["message"]), text(&problem["code"]));
            lines
                .push(Text::from("  ") + Tone::Title.of(format!("{place}{pointer}")) + format!(": {message} [{code}]"));
        }
        self.ctx.printer.note(Text::lines(lines));
    }

    /// The output of a run, or what of it is not as it was in the run before.
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

    /// Asks, and runs the plan for real if the answer is yes. Returns true if the command was stopped instead.
    async fn live(&self, stop: &mut Stop) -> anyhow::Result<bool> {
        self.ctx.printer.note(Tone::Attention.of("run it for real? [y]es, anything else: no"));
        // On a thread of its own: ctrl-c ends the command while it waits.
        let answer = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|_| line)
        });
        let answer = tokio::select! {
            answer = answer => answer??,
            () = stop.asked() => return Ok(true),
        };
        if matches!(answer.trim(), "y" | "yes") {
            self.children.live(&self.plan).await?;
        }
        Ok(false)
    }

    fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.ctx.cwd).unwrap_or(path).display().to_string();
        if shown.is_empty() { ".".to_owned() } else { shown }
    }
}
