//! `latch plugin check`: a gate for CI. Exit 0 if no rule is violated, 1 if one is, 2 if there was
//! nothing that could be checked.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use latchwork_core::pages;
use serde_json::json;

use super::build;
use crate::build::{RECIPE, Recipe, component_path};
use crate::check::render::{self, Format, render};
use crate::check::{self, History, InputError, Inputs, Process, Rebuilt, Subject, Unreadable, Wrong};
use crate::cli::args::PluginCheckArgs;
use crate::cli::context::Context;
use crate::cli::error::{CliError, Exit, Problem};
use crate::cli::{catalog, plan};
use crate::config::{Config, Grants, PluginConfig};
use crate::engine::anatomy::Anatomy;
use crate::os::clock;

/// The file of cases in a plugin's folder.
const CASES: &str = "cases.jsonl";
/// A check that takes longer says where the time went.
const LONG_MS: u64 = 20_000;

pub(super) async fn run(args: &PluginCheckArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    if args.other_process {
        return other_process(ctx).await;
    }
    let phases = Phases::new(ctx);
    let target = target(ctx, &args.file)?;
    let bytes = plan::read(&target.wasm)?;
    let config = ctx.config(target.dir.as_deref().or(target.wasm.parent()))?;
    let mut entry = entry(&config, &target);
    let is_configured = config.plugins.iter().any(|plugin| plugin.source == entry.source);
    if !is_configured {
        // Nobody has granted it anything yet: what it imports is then no fault of its.
        entry.grants = super::inspect::grants_needed(&Anatomy::of(&bytes));
    }
    if let Some(wasi) = args.wasi {
        entry.wasi = wasi.into();
    }
    let cases = cases(args, ctx, &target)?;
    let mut histories = Vec::new();
    for path in &args.history {
        histories.push(History { file: path.display().to_string(), bytes: plan::read(&ctx.cwd.join(path))? });
    }
    let rebuilt = rebuilt(args, ctx, &target, &phases)?;
    let process = Process {
        program: std::env::current_exe()?,
        args: ["plugin", "check", "--other-process", "-"].map(str::to_owned).to_vec(),
        wasm: target.wasm.clone(),
        cache_dir: config.cache_dir.clone(),
    };
    let engine = catalog::engine(&config)?;
    let settings = catalog::settings(&config, entry);
    let subject = Subject { file: &target.shown, bytes: &bytes, settings, is_configured };
    let inputs = Inputs {
        cases: cases.as_ref().map(|(file, bytes)| (file.as_str(), bytes.as_slice())),
        histories: &histories,
        rebuilt: rebuilt.as_ref(),
        process: Some(&process),
    };
    let checked = check::check(&engine, &subject, &inputs, &|phase| phases.begin(phase)).await;
    let file = cases.as_ref().map_or("", |(file, _)| file.as_str());
    let report = checked.map_err(|error| refused(file, error))?;
    phases.end();
    match Format::from(args.format) {
        // `--json` asks every command for its document.
        Format::Text if ctx.json => ctx.printer.document(&render::json(&report)),
        Format::Text => ctx.printer.say(render(&report, Format::Text).trim_end()),
        format => ctx.printer.raw(&render(&report, format)),
    }
    Ok(if report.passed { Exit::Done } else { Exit::Failed })
}

/// What is to be checked.
struct Target {
    /// The plugin's name.
    name: String,
    /// The component.
    wasm: PathBuf,
    /// The component, as findings name it.
    shown: String,
    /// The folder of its sources, where that was given.
    dir: Option<PathBuf>,
}

/// The component a path means: itself, or what is built of the folder.
fn target(ctx: &Context<'_>, path: &Path) -> anyhow::Result<Target> {
    let full = ctx.cwd.join(path);
    if !full.is_dir() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(Target { name, wasm: full, shown: path.display().to_string(), dir: None });
    }
    if !full.join(RECIPE).is_file() {
        let message = format!("{} has no {RECIPE}: name a component, or a plugin's folder", path.display());
        return Err(CliError::input(pages::INPUT_UNREADABLE, message).into());
    }
    build::build_all(ctx, std::slice::from_ref(&full))?;
    let recipe = Recipe::read(&full).map_err(|error| CliError::input(pages::PLUGIN_BUILD, error.to_string()))?;
    let wasm = component_path(&full, &recipe);
    let shown = component_path(path, &recipe).display().to_string();
    Ok(Target { name: recipe.name, wasm, shown, dir: Some(full) })
}

/// The file of cases: the one that is named, else the one in the plugin's folder.
fn cases(args: &PluginCheckArgs, ctx: &Context<'_>, target: &Target) -> Result<Option<(String, Vec<u8>)>, CliError> {
    if let Some(path) = &args.cases {
        return Ok(Some((path.display().to_string(), plan::read(&ctx.cwd.join(path))?)));
    }
    let Some(dir) = &target.dir else { return Ok(None) };
    let path = dir.join(CASES);
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some((args.file.join(CASES).display().to_string(), plan::read(&path)?)))
}

/// Another build of the same sources, where there is one or one can be made.
fn rebuilt(
    args: &PluginCheckArgs,
    ctx: &Context<'_>,
    target: &Target,
    phases: &Phases<'_>,
) -> anyhow::Result<Option<Rebuilt>> {
    let bytes = match (&args.rebuilt, &target.dir) {
        (Some(file), _) => plan::read(&ctx.cwd.join(file))?,
        (None, Some(dir)) if !args.once => {
            phases.begin("building it a second time, to compare");
            build::again(ctx, dir)?
        }
        _ => return Ok(None),
    };
    Ok(Some(Rebuilt { bytes }))
}

/// What the plugin would be loaded with: its entry in the configuration, else one that grants nothing.
fn entry(config: &Config, target: &Target) -> PluginConfig {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (wasm, dir) = (real(&target.wasm), target.dir.as_deref().map(real));
    let is_it = |plugin: &&PluginConfig| {
        let source = real(&plugin.source);
        source == wasm || Some(&source) == dir.as_ref()
    };
    config.plugins.iter().find(is_it).cloned().unwrap_or_else(|| PluginConfig {
        name: target.name.clone(),
        source: target.wasm.clone(),
        digest: None,
        wasi: Default::default(),
        grants: Grants::default(),
        limits: Default::default(),
        retry: None,
        on_indeterminate: None,
        confirmation: None,
        verifier: None,
        operators: Default::default(),
        config: BTreeMap::new(),
        prices: None,
    })
}

fn refused(cases: &str, error: InputError) -> CliError {
    match error {
        InputError::Cases(wrong) => {
            let message = match wrong.len() {
                1 => format!("{cases} has a problem"),
                n => format!("{cases} has {n} problems"),
            };
            CliError::input(pages::CASES_WRONG, message).with(wrong.into_iter().map(|wrong| problem(cases, wrong)))
        }
        InputError::History(file, Unreadable::NotEvidence(why)) => {
            CliError::input(pages::NOT_EVIDENCE, format!("{file}: {why}"))
        }
        InputError::History(file, Unreadable::Damaged(line, why)) => {
            CliError::input(pages::HISTORY_DAMAGED, format!("{file}:{line}: {why}; `latch verify {file}` tells more"))
        }
    }
}

fn problem(file: &str, wrong: Wrong) -> Problem {
    let Wrong { line, column, pointer, message } = wrong;
    let json = json!({ "file": file, "line": line, "column": column, "pointer": pointer, "message": message });
    let column = column.map_or_else(String::new, |column| format!(":{column}"));
    let pointer = if pointer.is_empty() { String::new() } else { format!(" {pointer}") };
    Problem { place: format!("{file}:{line}{column}{pointer}"), code: pages::CASES_WRONG.to_owned(), message, json }
}

/// The other process of a check.
async fn other_process(ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let mut question = Vec::new();
    std::io::stdin().lock().read_to_end(&mut question)?;
    let answer = check::serve(&question).await.map_err(|why| CliError::input(pages::USAGE, why))?;
    ctx.printer.raw(&answer);
    Ok(Exit::Done)
}

/// What takes its time, and how long.
struct Phases<'c> {
    ctx: &'c Context<'c>,
    began: std::sync::Mutex<Vec<(String, u64)>>,
}

impl<'c> Phases<'c> {
    fn new(ctx: &'c Context<'c>) -> Self {
        Self { ctx, began: std::sync::Mutex::new(vec![("building it".to_owned(), clock::boot_us())]) }
    }

    fn begin(&self, what: &str) {
        self.began.lock().expect("no holder panics").push((what.to_owned(), clock::boot_us()));
    }

    /// Where the time went, if it took long.
    fn end(self) {
        let mut began = self.began.into_inner().expect("no holder panics");
        began.push((String::new(), clock::boot_us()));
        let took = |from: &(String, u64), to: &(String, u64)| to.1.saturating_sub(from.1) / 1_000;
        if took(&began[0], &began[began.len() - 1]) < LONG_MS {
            return;
        }
        for pair in began.windows(2) {
            let ms = took(&pair[0], &pair[1]);
            self.ctx.printer.note(format!("{:>7.1} s {}", ms as f64 / 1_000.0, pair[0].0));
        }
    }
}
