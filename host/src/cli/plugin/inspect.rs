//! `latch plugin inspect`: what a component is, asks for, and may reach.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use latchwork_core::ids::Hash;
use latchwork_core::manifest::{OperatorSpec, PluginKind, WasiMode};
use latchwork_core::pages;
use serde::Serialize;
use serde_json::{Value, json};

use super::confirmation::{self, Confirmed};
use crate::build::{self, RECIPE, Recipe};
use crate::cli::args::PluginInspectArgs;
use crate::cli::context::Context;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Tone;
use crate::cli::{catalog, plan};
use crate::config::{Grants, PluginConfig};
use crate::engine::{LoadError, Outline, Plugin, Problem};

/// A class of imports: its name, its prefixes.
const CLASSES: [(&str, &[&str]); 7] = [
    ("host", &["latchwork:plugin/"]),
    ("http", &["wasi:http/"]),
    ("sockets", &["wasi:sockets/"]),
    ("files", &["wasi:filesystem/"]),
    ("clocks and random", &["wasi:clocks/", "wasi:random/"]),
    ("plumbing", &["wasi:io/", "wasi:cli/"]),
    ("other", &[""]),
];

pub(super) fn run(args: &PluginInspectArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let file = component(&args.file)?;
    let bytes = plan::read(&file)?;
    let config = ctx.config(file.parent())?;
    let digest = Hash::of(&[&bytes]);
    let engine = catalog::engine(&config)?;
    let malformed = |problem: Problem| CliError::failed(problem.page(), format!("{}: {problem}", file.display()));
    let outline = engine.outline(&bytes).map_err(malformed)?;
    // Under the grants it would have: those of its own entry, if it has one.
    let configured = config.plugins.iter().find(|plugin| is_source(&plugin.source, &file));
    let settings = catalog::settings(&config, configured.cloned().unwrap_or_else(|| unconfigured(&file)));
    let loaded = tokio::task::block_in_place(|| engine.load(&bytes, settings));
    let entry = configured.cloned().unwrap_or_else(|| unconfigured(&file));
    let confirmed = loaded.as_ref().map(|plugin| confirmation::of(&config, &entry, plugin)).unwrap_or_default();
    let seen =
        Seen { confirmed, file: &file, bytes: bytes.len(), digest, outline: &outline, configured, loaded: &loaded };
    if ctx.json {
        ctx.printer.document(&seen.document());
    } else {
        seen.lines(ctx).iter().for_each(|line| ctx.printer.say(line));
    }
    Ok(if loaded.is_ok() { Exit::Done } else { Exit::Failed })
}

/// What was found out about a component.
struct Seen<'a> {
    confirmed: Confirmed,
    file: &'a Path,
    bytes: usize,
    digest: Hash,
    outline: &'a Outline,
    configured: Option<&'a PluginConfig>,
    loaded: &'a Result<Arc<Plugin>, LoadError>,
}

impl Seen<'_> {
    fn document(&self) -> Value {
        let (verdict, problems) = match self.loaded {
            Ok(_) => ("accepted", vec![]),
            Err(error) => ("refused", error.problems.iter().map(problem).collect()),
        };
        let plugin = self.loaded.as_ref().ok();
        let (may, may_not) = self.reach();
        json!({
            "file": self.file,
            "bytes": self.bytes,
            "digest": format!("sha256:{}", self.digest),
            "kind": self.outline.kind,
            "plain": self.outline.is_plain,
            "configured_as": self.configured.map(|plugin| &plugin.name),
            "wasi": self.configured.map(|plugin| plugin.wasi),
            "verdict": verdict,
            "problems": problems,
            "imports": self.imports(),
            "exports": self.outline.exports,
            "version": plugin.map(|plugin| &plugin.manifest.version),
            "operators": plugin.map(|plugin| plugin.manifest.operators.iter().map(|o| operator(plugin, o)).collect::<Vec<_>>()),
            "reconcile": plugin.map(|plugin| plugin.reconcile),
            "verify": plugin.map(|plugin| plugin.verify),
            "compensate": plugin.map(|plugin| plugin.compensate),
            "confirmation": self.confirmed.document(),
            "may_reach": may,
            "may_not_reach": may_not,
        })
    }

    fn lines(&self, ctx: &Context<'_>) -> Vec<String> {
        let title = |text: &str| ctx.printer.tone(Tone::Title, text);
        let kind = self.outline.kind.as_ref().map_or_else(|| "neither step nor tool".to_owned(), word);
        let kind = if self.outline.is_plain { format!("{kind} (plain component)") } else { kind };
        let mut lines = vec![
            format!("{} {kind}, {} KiB", title(&self.file.display().to_string()), self.bytes.div_ceil(1024)),
            format!("sha256:{}", self.digest),
        ];
        lines.push(match self.loaded {
            Ok(plugin) => format!("{} version {}", ctx.printer.tone(Tone::Good, "accepted:"), plugin.manifest.version),
            Err(_) => ctx.printer.tone(Tone::Bad, "refused:"),
        });
        if let Err(error) = self.loaded {
            lines.extend(error.problems.iter().map(|problem| format!("  {problem} [{}]", problem.page())));
        }
        lines.push(title("imports"));
        for (class, names) in self.imports() {
            lines.push(format!("  {class}: {}", names.join(", ")));
        }
        if let Ok(plugin) = self.loaded {
            lines.push(title("operators"));
            for spec in &plugin.manifest.operators {
                lines.extend(operator_lines(plugin, spec));
            }
            let exports =
                [("reconcile", plugin.reconcile), ("verify", plugin.verify), ("compensate", plugin.compensate)];
            let there: Vec<_> = exports.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
            if plugin.kind == PluginKind::Tool {
                let said = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                lines.push(format!("{}: {said}", title("accounts for its effects by")));
                lines.push(format!("{}: {}", title("on resume its effects are confirmed by"), self.confirmed));
            }
        }
        let (may, may_not) = self.reach();
        lines.push(title("may reach"));
        lines.extend(may.iter().map(|what| format!("  {what}")));
        lines.push(title("may not reach"));
        lines.extend(may_not.iter().map(|what| format!("  {what}")));
        lines
    }

    /// Imports by class, classes without any left out.
    fn imports(&self) -> BTreeMap<&'static str, Vec<&str>> {
        let mut classes: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for import in &self.outline.imports {
            let class = CLASSES.iter().find(|(_, prefixes)| prefixes.iter().any(|prefix| import.starts_with(prefix)));
            let (class, _) = class.expect("the last class takes everything");
            classes.entry(*class).or_default().push(import);
        }
        classes
    }

    fn has_wasi(&self) -> bool {
        self.configured.is_some_and(|plugin| plugin.wasi == WasiMode::Virtual)
    }

    /// What it may reach, and what it may not.
    fn reach(&self) -> (Vec<String>, Vec<String>) {
        match self.outline.kind {
            Some(PluginKind::Tool) => match self.configured {
                Some(plugin) => granted(&plugin.grants),
                None => (vec!["nothing: no [[plugin]] in latch.toml has it as its source".into()], vec![]),
            },
            Some(PluginKind::Step) => (
                [
                    Some("its input, the injected clock and random numbers, and tools through the ledger"),
                    self.has_wasi().then_some("a WASI that answers from those and logs what is written"),
                ]
                .map(|what| what.map(str::to_owned))
                .into_iter()
                .flatten()
                .collect(),
                vec!["network, files, environment, the machine's clock and entropy, earlier runs' memory".into()],
            ),
            None => (vec![], vec!["anything: it is not loaded".into()]),
        }
    }
}

/// The words of an enum that is written as one.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => panic!("an enum without data is a word: {other:?}"),
    }
}

fn problem(problem: &Problem) -> Value {
    json!({ "code": problem.page(), "message": problem.to_string() })
}

fn operator(plugin: &Plugin, spec: &OperatorSpec) -> Value {
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
    json!({
        "name": spec.name,
        "description": spec.description,
        "effects": spec.effects,
        "determinism": spec.determinism,
        "class": plugin.class(spec.name.as_str()),
        "resolution": spec.resolution,
        "outcome_type": spec.outcome_type,
        "outcome_status": spec.outcome_status,
        "limits": plugin.limits(spec.name.as_str()),
        "input_schema": schema(&spec.input_schema),
        "output_schema": schema(&spec.output_schema),
    })
}

fn operator_lines(plugin: &Plugin, spec: &OperatorSpec) -> Vec<String> {
    let effects: Vec<_> = spec.effects.iter().map(|effect| effect.as_str()).collect();
    let mut facts = vec![effects.join(" + "), word(&spec.determinism)];
    if spec.is_world_changing() {
        facts.push(format!("{} when in doubt", word(&plugin.class(spec.name.as_str()))));
    }
    if let Some(outcome) = &spec.outcome_type {
        facts.push(format!("makes {outcome}"));
    }
    let limits = plugin.limits(spec.name.as_str());
    vec![
        format!("  {}: {}", spec.name, spec.description),
        format!("    {}", facts.join("; ")),
        format!(
            "    limits: {} MiB, {} fuel, {} ms, {} KiB out, {} host calls",
            limits.memory_bytes >> 20,
            limits.fuel,
            limits.timeout_ms,
            limits.output_bytes >> 10,
            limits.host_calls
        ),
        format!("    takes {}", spec.input_schema),
        format!("    gives {}", spec.output_schema),
    ]
}

fn granted(grants: &Grants) -> (Vec<String>, Vec<String>) {
    let (mut may, mut may_not) = (vec![], vec![]);
    let mut class = |all: Vec<String>, none: &str| match all.is_empty() {
        true => may_not.push(none.to_owned()),
        false => may.extend(all),
    };
    class(grants.http.iter().map(|g| format!("{}://{}:{}", g.scheme, g.host, g.port)).collect(), "any HTTP server");
    class(grants.tcp.iter().map(|g| format!("tcp {}:{}", g.host, g.port)).collect(), "any TCP address");
    let dir = |g: &crate::config::DirGrant| {
        let how = if g.write { "read and write" } else { "read" };
        format!("{how} {} (as {})", g.host.display(), g.guest)
    };
    class(grants.dirs.iter().map(dir).collect(), "any file");
    let how = if grants.secrets_clear { "in clear" } else { "as a placeholder" };
    class(grants.secrets.iter().map(|name| format!("secret {name} {how}")).collect(), "any secret");
    class(grants.kv.iter().map(|name| format!("its own map {name}")).collect(), "any stored map");
    may_not.push("the environment, other plugins, and whatever is not listed above".to_owned());
    (may, may_not)
}

/// The component a path means: itself, or what was built in the folder.
fn component(path: &Path) -> Result<PathBuf, CliError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let recipe = Recipe::read(path)
        .map_err(|error| CliError::input(pages::INPUT_UNREADABLE, format!("{}: {error}", path.display())))?;
    let file = build::component_path(path, &recipe);
    if !file.is_file() {
        let message = format!("{} is not built: `latch plugin build {}`", file.display(), path.display());
        return Err(CliError::input(pages::PLUGIN_MISSING, message));
    }
    Ok(file)
}

/// Whether a configured source is this component, directly or as what is built in it.
fn is_source(source: &Path, file: &Path) -> bool {
    let built = || Some(build::component_path(source, &Recipe::read(source).ok()?));
    let same = |path: &Path| {
        path == file
            || std::fs::canonicalize(path).ok().zip(std::fs::canonicalize(file).ok()).is_some_and(|(a, b)| a == b)
    };
    match source.join(RECIPE).is_file() {
        true => built().is_some_and(|built| same(&built)),
        false => same(source),
    }
}

fn unconfigured(file: &Path) -> PluginConfig {
    PluginConfig {
        name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        source: file.to_owned(),
        digest: None,
        wasi: Default::default(),
        grants: Grants::default(),
        limits: Default::default(),
        retry: None,
        on_indeterminate: None,
        confirmation: None,
        verifier: None,
        operators: BTreeMap::new(),
        config: BTreeMap::new(),
        prices: None,
    }
}
