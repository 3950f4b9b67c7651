//! `latch verify`: verifies evidence offline.
//!
//! No database and no server are needed. Plugins are needed only to execute steps again.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::json;

use latchwork::evidence::{ComponentDirectory, MissingComponent, is_valid_signature, reexecute};
use latchwork_core::evidence;
use latchwork_core::evidence::{DecisionReport, ProblemKind, Trust, TrustedKeys, Verified, VerifyReport};
use latchwork_core::model::error_docs;

use crate::args::VerifyArgs;
use crate::context::CommandContext;
use crate::error::{CliError, CliProblem, Exit};
use crate::files::source;
use crate::plugins::catalog;
use crate::text::{Text, Tone};

pub(crate) async fn run(args: VerifyArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let trust = args.trust.as_deref().map(read_trust).transpose()?;
    let people = args.people.as_deref().map(read_trust).transpose()?;
    let keys = TrustedKeys { signers: trust.as_ref(), people: people.as_ref() };
    let bytes = read(&args.file)?;
    let mut verified = evidence::verify_with(&bytes, keys, &is_valid_signature).map_err(|why| {
        CliError::input(error_docs::NOT_EVIDENCE, format!("{} is not evidence: {why}", args.file.display()))
    })?;
    match components(&args, ctx)? {
        Some(dir) => reexecute_steps(&dir, args.max_fuel, ctx, &mut verified).await?,
        None if verified.durable.is_some() => verified.report.not_checked.push(evidence::NotChecked {
            code: "not_reexecuted",
            message: "steps were not executed again (--plugins DIR)".to_owned(),
        }),
        None => {}
    }
    let report = &verified.report;
    let mut document = serde_json::to_value(report)?;
    document["file"] = json!(args.file.display().to_string());
    ctx.answer(&document, || text(&args.file, report));
    Ok(if report.intact { Exit::Done } else { Exit::Failed })
}

/// Returns the folder of the components, or `None` if no step is to be executed again.
fn components(args: &VerifyArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Option<PathBuf>> {
    Ok(match &args.plugins {
        Some(dir) => Some(dir.clone()),
        None if ctx.names_config() => Some(ctx.config(None)?.state_dir().join("components")),
        None => None,
    })
}

async fn reexecute_steps(
    dir: &Path,
    max_fuel: u64,
    ctx: &CommandContext<'_>,
    verified: &mut Verified,
) -> anyhow::Result<()> {
    // Uses the cache of compiled code only if `--config` was given. Otherwise every component is compiled each time.
    let engine = match ctx.names_config() {
        true => catalog::engine(ctx.session(), &ctx.config(None)?)?,
        false => catalog::engine_without_cache(ctx.session())?,
    };
    let profile = engine.step_profile();
    let directory = ComponentDirectory::open(engine, dir).map_err(|error| {
        CliError::input(error_docs::INPUT_UNREADABLE, format!("{} cannot be read: {error}", dir.display()))
    })?;
    match reexecute(&directory, profile, max_fuel, verified).await {
        // The problems of the evidence decide the result. Missing components are only listed as not checked.
        Err(missing) if !verified.report.intact => {
            let message = components_missing(dir, &missing).message;
            verified.report.not_checked.push(evidence::NotChecked { code: "not_reexecuted", message });
            Ok(())
        }
        done => done.map_err(|missing| components_missing(dir, &missing).into()),
    }
}

fn components_missing(dir: &Path, missing: &[MissingComponent]) -> CliError {
    let message = format!(
        "steps cannot be executed again: {} lacks {} pinned component{}",
        dir.display(),
        missing.len(),
        if missing.len() == 1 { "" } else { "s" }
    );
    CliError::input(error_docs::COMPONENT_MISSING, message).with_problems(missing.iter().map(|missing| {
        let MissingComponent { plugin, digest, operator } = missing;
        let message = format!("no component has the digest {digest}, which serves {operator}");
        CliProblem {
            location: format!("plugin {plugin}"),
            code: error_docs::COMPONENT_MISSING.to_owned(),
            json: json!({ "plugin": plugin, "digest": digest, "operator": operator, "message": message }),
            message,
        }
    }))
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    if path.as_os_str() != "-" {
        return source::file(path);
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| CliError::input(error_docs::INPUT_UNREADABLE, format!("stdin cannot be read: {error}")))?;
    Ok(bytes)
}

fn read_trust(path: &Path) -> Result<Trust, CliError> {
    let text = source::file(path)?;
    Trust::parse(&String::from_utf8_lossy(&text)).map_err(|lines| {
        let file = path.display();
        let message = match lines.is_empty() {
            true => format!("{file} names no key"),
            false => format!("{file} is not a valid trust file"),
        };
        CliError::input(error_docs::KEY_REFUSED, message).with_problems(lines.into_iter().map(|line| {
            let message = "a line is `ed25519:`, 64 lower-case hexadecimal digits, and optionally a name".to_owned();
            CliProblem {
                location: format!("{file}:{line}"),
                code: error_docs::KEY_REFUSED.to_owned(),
                json: json!({ "file": path.display().to_string(), "line": line, "message": message }),
                message,
            }
        }))
    })
}

/// Returns true if the file may be intact, but was signed by a key that the verifier does not trust.
fn is_about_trust(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::Trust | ProblemKind::Person)
}

fn text(file: &Path, report: &VerifyReport) -> Text {
    let job = report.job_id.as_ref().map_or_else(|| "an unreadable job".to_owned(), ToString::to_string);
    let state = report.state.map_or("", |state| state.as_str());
    let verdict = match report.intact {
        true => Tone::Good.of("intact"),
        false if report.problems.iter().all(|problem| is_about_trust(problem.kind)) => Tone::Bad.of("not trusted"),
        false => Tone::Bad.of("tampered"),
    };
    let mut lines = Text::from(format!("{} ", file.display())) + verdict + format!(": {job} {state}");
    lines = lines.under(format!(
        "  {} lines: {} events, {} ledger rows, {} effects, {} payloads ({} withheld), {} steps executed again",
        report.lines,
        report.events,
        report.ledger_rows,
        report.effects,
        report.payloads,
        report.withheld,
        report.steps_reexecuted
    ));
    let signature = &report.signature;
    if let Some(key) = &signature.key {
        let trusted = if signature.trusted { "trusted" } else { "not known to be trusted" };
        let name =
            signature.name.as_deref().filter(|name| !name.is_empty()).map(|n| format!(" ({n})")).unwrap_or_default();
        let valid = if signature.valid { "signed by" } else { "NOT validly signed by" };
        lines = lines.under(format!("  {valid} {key}{name}, {trusted}"));
    }
    let DecisionReport { claimed, signed, trusted } = report.decisions;
    if claimed + signed > 0 {
        let signed = format!("{signed} signed ({trusted} by known people)");
        lines = lines.under(format!("  approvals and rejections: {claimed} claimed, {signed}"));
    }
    for problem in &report.problems {
        lines = lines.under(Tone::Bad.of("wrong:") + format!(" {problem}"));
    }
    for note in &report.not_checked {
        lines = lines.under(Tone::Attention.of("not checked:") + format!(" {}", note.message));
    }
    lines
}
