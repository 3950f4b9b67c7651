//! `latch plugin check`: finds defects of a plugin before it is used in a job.
//!
//! * `rule` is the registry of rules. Each rule has a stable id, a severity and a page (`rules/*.md`).
//! * `finding` is one violation of a rule, and `report` collects all findings. `render` writes reports for
//!   people, CI systems and code hosts.
//! * `static_rules` inspect the component without running its steps. `dynamic` runs its steps with cases
//!   under different hosts. `tools` runs a tool against stubs of the servers and directories it may reach.
//!   `history` runs the steps of real jobs again.
//!
//! The same component, cases and histories give the same report, byte for byte. A report does not depend on the time,
//! on the machine, or on the order in which runs finish.

mod dynamic;
mod finding;
mod history;
pub mod render;
mod report;
mod rule;
mod static_rules;
pub(crate) mod tools;

use std::sync::Arc;

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::PluginKind;

use crate::capability::settings::PluginSettings;
use crate::engine::{Engine, LoadError, Plugin};
use crate::units::size;

pub use dynamic::other_process::serve;
pub use dynamic::{CaseAnswer, CaseProblem, OtherProcess, RebuiltComponent, RecordedEnvironment, StepCase, parse};
pub use finding::{Finding, SourceLocation};
pub use history::{HistoryFile, HistoryFileError};
pub use report::{CaseRun, CheckReport, CheckedComponent, HistoryRun, RuleState};
pub use rule::{RULES, Rule, RuleKind, Severity, find_rule};
pub use static_rules::StaticInput;

/// The component that is checked.
pub struct Subject<'a> {
    /// Path of the component as the user named it. Findings refer to this path.
    pub file: &'a str,
    /// Bytes of the component.
    pub bytes: &'a [u8],
    /// Settings with which the plugin would be loaded.
    pub settings: PluginSettings,
    /// True if the settings come from an entry of the configuration. Otherwise the cases declare the grants.
    pub is_configured: bool,
}

/// Additional inputs of a check.
#[derive(Default)]
pub struct CheckInputs<'a> {
    /// Path of the file of cases, as the user named it, and its contents.
    pub cases: Option<(&'a str, &'a [u8])>,
    /// Exported jobs.
    pub histories: &'a [HistoryFile],
    /// Another build of the same sources.
    pub rebuilt: Option<&'a RebuiltComponent>,
    /// Command line of the other process. `None` if cases run in this process only.
    pub process: Option<&'a OtherProcess>,
}

/// Reasons why nothing could be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputError {
    /// The file of cases is invalid. Contains every problem of the file.
    Cases(Vec<CaseProblem>),
    /// A file is not a valid history. Contains the path and the reason.
    History(String, HistoryFileError),
}

/// Checks a component. `progress` receives a message before each slow part. Blocks the thread while a
/// component is compiled.
///
/// # Errors
/// An input of the check is invalid.
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
        outline: engine.component_interface(subject.bytes),
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
            check_tool(plugin, subject, inputs.cases, &mut report).await.map_err(InputError::Cases)?;
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
    plugin: &Arc<Plugin>,
    subject: &Subject<'_>,
    cases: Option<(&str, &[u8])>,
    report: &mut CheckReport,
) -> Result<(), Vec<CaseProblem>> {
    let (cases_file, bytes) = cases.unwrap_or((subject.file, &[]));
    let checked =
        tools::ToolCheck { plugin, settings: &subject.settings, is_configured: subject.is_configured, cases_file };
    tools::run(&checked, &tools::parse(bytes)?, report).await
}

/// Name and size of a component for progress messages.
fn name_and_size(settings: &PluginSettings, bytes: &[u8]) -> String {
    format!("{} ({})", settings.name, size(bytes.len()))
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
