//! Runs all rules on one component.

use std::sync::Arc;

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{Determinism, PluginKind};
use latchwork_engine::{Engine, LoadError, Plugin};

use crate::check::case_problem::CaseProblem;
use crate::check::dynamic::{name_and_size, parse};
use crate::check::input::{CheckInputs, InputError, Subject};
use crate::check::report::{CheckReport, CheckedComponent};
use crate::check::rule::RuleKind;
use crate::check::static_rules::StaticInput;
use crate::check::{dynamic, history, static_rules, tools};

/// Checks a component. `progress` receives a message before each slow part. Blocks the thread while a
/// component is compiled and while cases run.
///
/// # Errors
/// Returns an error if an input of the check is invalid.
pub async fn check(
    engine: &Engine,
    subject: &Subject<'_>,
    inputs: &CheckInputs<'_>,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<CheckReport, InputError> {
    let mut histories = Vec::new();
    for file in inputs.histories {
        histories.push(history::read(file).map_err(|why| InputError::History(file.file.clone(), why))?);
    }
    let named = name_and_size(&subject.settings, subject.bytes);
    if !engine.is_compiled(subject.bytes) {
        progress(&format!("compiling {named}"));
    }
    let loaded = load(engine, subject);
    let mut report = CheckReport::new(component(subject, loaded.as_deref().ok()));
    let examined = StaticInput {
        file: subject.file,
        bytes: subject.bytes,
        outline: engine.component_interface(subject.bytes, subject.settings.load_settings().component_bytes_max),
        loaded: &loaded,
    };
    report.add(static_rules::run(&examined));
    report.mark_checked(RuleKind::Static);
    match &loaded {
        Ok(plugin) if plugin.kind == PluginKind::Step => {
            let cases = inputs.cases.map(|(file, bytes)| parse(file, bytes)).transpose().map_err(InputError::Cases)?;
            let mut cases = cases.unwrap_or_default();
            let wrong = dynamic::unserved_cases(plugin, &cases);
            if !wrong.is_empty() {
                return Err(InputError::Cases(wrong));
            }
            report.mark_not_checked(RuleKind::Tools, "it is a step");
            cases.extend(history::run(plugin, &histories, engine.step_profile(), &mut report).await);
            let hosts = dynamic::HostVariants {
                engine,
                bytes: subject.bytes,
                file: subject.file,
                settings: &subject.settings,
                process: inputs.process,
                rebuilt: inputs.rebuilt,
                known: &inputs.known,
                declaration_of: inputs.declaration_of.unwrap_or(&|_| None),
                progress,
            };
            let file = inputs.cases.map_or(subject.file, |(file, _)| file);
            dynamic::run(plugin, &hosts, &cases, file, &mut report).await;
        }
        Ok(plugin) => {
            for kind in [RuleKind::Dynamic, RuleKind::History] {
                report.mark_not_checked(kind, "it is a tool");
            }
            if inputs.cases.is_some() {
                progress(&format!("running the cases of {}", subject.settings.name));
            }
            check_tool(engine, plugin, subject, inputs, &mut report).await.map_err(InputError::Cases)?;
        }
        Err(_) => {
            for kind in [RuleKind::Dynamic, RuleKind::Tools, RuleKind::History] {
                report.mark_not_checked(kind, "the component cannot be loaded");
            }
        }
    }
    report.finish();
    Ok(report)
}

/// Runs the rules that apply only to tools.
async fn check_tool(
    engine: &Engine,
    plugin: &Arc<Plugin>,
    subject: &Subject<'_>,
    inputs: &CheckInputs<'_>,
    report: &mut CheckReport,
) -> Result<(), Vec<CaseProblem>> {
    let (cases_file, bytes) = inputs.cases.unwrap_or((subject.file, &[]));
    let cases = tools::parse(bytes)?;
    tools::check_code(plugin, subject.bytes, subject.file, report);
    let is_pure = plugin.manifest.operators.iter().any(|spec| spec.determinism == Determinism::Pure);
    let moved = if is_pure && !cases.is_empty() { load_moved(engine, subject) } else { None };
    let checked = tools::ToolCheck {
        plugin,
        settings: &subject.settings,
        is_configured: subject.is_configured,
        cases_file,
        known: &inputs.known,
        has_runtime: dynamic::has_runtime(subject.bytes),
        moved,
    };
    tools::run(&checked, &cases, report).await
}

/// Loads the component with another layout of its memory. Returns `None` if the component's own layout is unknown, or
/// if the changed component does not load.
fn load_moved(engine: &Engine, subject: &Subject<'_>) -> Option<Arc<Plugin>> {
    let bytes = dynamic::move_memory(subject.bytes, dynamic::LAYOUTS[0])?;
    // Suppresses log messages of this load. The changed component may trap while it is loaded.
    let load = || engine.load(&bytes, subject.settings.clone());
    let quiet = || tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::new(), load);
    tokio::task::block_in_place(quiet).ok()
}

fn load(engine: &Engine, subject: &Subject<'_>) -> Result<Arc<Plugin>, LoadError> {
    tokio::task::block_in_place(|| engine.load(subject.bytes, subject.settings.clone()))
}

fn component(subject: &Subject<'_>, plugin: Option<&Plugin>) -> CheckedComponent {
    CheckedComponent {
        name: subject.settings.name.clone(),
        file: subject.file.to_owned(),
        digest: format!("sha256:{}", Hash::of(&[subject.bytes])),
        kind: plugin.map(|plugin| plugin.kind),
        version: plugin.map(|plugin| plugin.manifest.version.clone()),
    }
}
