//! Rules that run tools against stubs of the servers and directories they may reach: D100 to D149.
//!
//! Each case is a call and the simulated world in which it runs: canned responses of servers, files, a key-value map
//! and secrets. The component runs under its grants as in a job. Only the servers, directories, maps and secrets behind
//! the grants are stubs.
//!
//! `world` builds the stubs for each run and reports their state afterwards. `single_call` checks one call while all
//! servers work. `lost_record` checks a call whose record is lost. `server_faults` checks the answers of a tool when
//! servers fail.
//!
//! Plain TCP has no stub. Connections over plain TCP get no answer.

mod case;
mod lost_record;
mod server_faults;
mod single_call;
mod world;

use std::sync::Arc;

use tracing::instrument::WithSubscriber as _;

use latchwork_core::model::effect::Answer;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{OperatorSpec, RecoveryClass};

use super::CaseProblem;
use super::finding::Finding;
use super::report::{CaseRun, CheckReport};
use super::rule::RuleKind;
use crate::capability::settings::PluginSettings;
use crate::engine::{Plugin, ToolEnd};
use crate::guest::sources::StepContext;
use crate::guest::tool_call::ToolCallContext;
use crate::os::clock;
use case::ToolCase;
use world::World;

pub(crate) use case::parse;

/// Inputs of the check of a tool.
pub(super) struct ToolCheck<'a> {
    /// The loaded plugin.
    pub(super) plugin: &'a Arc<Plugin>,
    /// Settings with which the plugin would be loaded.
    pub(super) settings: &'a PluginSettings,
    /// True if the settings come from an entry of the configuration.
    pub(super) is_configured: bool,
    /// Path of the file of cases.
    pub(super) cases_file: &'a str,
}

/// A case that is being run, with its findings.
struct RunningCase<'a> {
    tools: &'a ToolCheck<'a>,
    case: &'a ToolCase,
    spec: &'a OperatorSpec,
    class: RecoveryClass,
    found: Vec<Finding>,
    notes: Vec<String>,
    ran: Option<CaseRun>,
}

/// Runs every case.
///
/// # Errors Returns the cases that name an unknown operator or that could not be run, with their lines.
pub(super) async fn run(
    tools: &ToolCheck<'_>,
    cases: &[ToolCase],
    report: &mut CheckReport,
) -> Result<(), Vec<CaseProblem>> {
    let unserved = |case: &&ToolCase| tools.plugin.operator(&case.operator).is_none();
    let wrong: Vec<_> = cases
        .iter()
        .filter(unserved)
        .map(|case| {
            let served = tools.plugin.manifest.operators.iter().map(|spec| spec.name.as_str());
            let meant = latchwork_core::encoding::suggest::did_you_mean(&case.operator, served);
            CaseProblem {
                line: case.line,
                column: None,
                pointer: String::new(),
                message: format!("the plugin serves no operator {}{meant}", case.operator),
            }
        })
        .collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    for spec in &tools.plugin.manifest.operators {
        let name = spec.name.as_str();
        if !cases.iter().any(|case| case.operator == name) {
            let message = format!("{name} has no case, so its behaviour is not checked");
            let hint = "write a line for it into cases.jsonl";
            report.add([Finding::new("D050", tools.cases_file, message).of(name).hint(hint)]);
        }
    }
    report.mark_rule_checked("D050");
    if cases.is_empty() {
        report.mark_not_checked(RuleKind::Tools, "there are no cases: cases.jsonl in its folder, or --cases");
        return Ok(());
    }
    for case in cases {
        let spec = tools.plugin.operator(&case.operator).expect("looked at above");
        let mut running = RunningCase {
            tools,
            case,
            spec,
            class: tools.plugin.class(&case.operator),
            found: vec![],
            notes: vec![],
            ran: None,
        };
        match running.run().await {
            Ok(()) => {}
            // A case that could not run must not count as passed.
            Err(error) => {
                let message = format!("case {} could not be run: {error}", case.name);
                return Err(vec![CaseProblem { line: case.line, column: None, pointer: String::new(), message }]);
            }
        }
        report.add(running.found);
        report.cases.extend(running.ran);
        for note in running.notes {
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
    }
    for spec in &tools.plugin.manifest.operators {
        let name = spec.name.as_str();
        if tools.plugin.class(name) == RecoveryClass::Opaque {
            report.notes.push(format!(
                "{name} is opaque: a call whose record is lost parks its job until a person resolves it"
            ));
        }
    }
    report.mark_checked(RuleKind::Tools);
    Ok(())
}

/// Result of a call.
struct CallResult {
    end: ToolEnd,
    log: String,
}

impl RunningCase<'_> {
    async fn run(&mut self) -> std::io::Result<()> {
        crate::check::tools::single_call::run(self).await?;
        crate::check::tools::lost_record::run(self).await?;
        crate::check::tools::server_faults::run(self).await
    }

    /// Creates the world of the case in its initial state.
    fn world(&self) -> std::io::Result<World> {
        World::of(self.case, self.tools.settings, self.tools.is_configured)
    }

    fn plugin(&self, world: &World) -> Plugin {
        self.tools.plugin.with_settings(world.settings()).expect("it is a tool")
    }

    /// External key of the call, equal in every try and every run.
    fn key(&self) -> String {
        let hash = Hash::of(&[b"latch plugin check", self.case.operator.as_bytes(), &[0], self.case.input.as_bytes()]);
        format!("check-{}", &hash.to_hex()[..32])
    }

    fn context(&self, tries_before: u32) -> ToolCallContext {
        ToolCallContext {
            step: StepContext {
                tenant: "default".into(),
                actor: "check".into(),
                correlation_id: "cor_01JZ0000000000000000000000".into(),
                job_id: "job_01JZ0000000000000000000000".into(),
                plan_id: "plan".into(),
                step_id: "s1".into(),
            },
            trace_id: "0123456789abcdef0123456789abcdef".into(),
            slot: "s1".into(),
            external_key: self.key(),
            attempt: 1 + tries_before,
            tries_before,
            timeout_ms: self.tools.plugin.limits(&self.case.operator).timeout_ms,
            started_boot_us: clock::boot_us(),
        }
    }

    /// Calls the tool once.
    async fn call(&mut self, world: &World, tries_before: u32) -> CallResult {
        let (plugin, log) = (self.plugin(world), world::CapturedLog::default());
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .without_time()
            .with_ansi(false)
            .with_writer(log.clone())
            .finish();
        let limits = plugin.limits(&self.case.operator);
        let context = self.context(tries_before);
        let calling = plugin.invoke(&self.case.operator, &self.case.input, context, &limits);
        let end = calling.with_subscriber(subscriber).await;
        let run = self.ran.get_or_insert_with(|| CaseRun {
            name: self.case.name.clone(),
            operator: self.case.operator.clone(),
            ended: describe_end(&end.answer),
            fuel: end.fuel,
            memory_bytes: None,
            runs: 0,
        });
        run.runs += 1;
        CallResult { end, log: log.text() }
    }

    /// Adds a finding.
    fn add_finding(&mut self, rule: &str, message: impl Into<String>) -> &mut Finding {
        let finding = Finding::new(rule, self.tools.cases_file, message)
            .at(self.case.line)
            .of(self.case.operator.as_str())
            .case(self.case.name.as_str());
        self.found.push(finding);
        self.found.last_mut().expect("pushed a moment ago")
    }
}

/// Describes the end of a call: `succeeded`, or the code of its error.
fn describe_end(answer: &Answer) -> String {
    match answer {
        Answer::Ok(_) => "succeeded".to_owned(),
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => failure.code.as_str().to_owned(),
    }
}

/// Describes an answer in a few words.
fn describe_answer(answer: &Answer, world: &World) -> String {
    let text = match answer {
        Answer::Ok(output) => output.result.clone(),
        Answer::NotApplied(failure) => format!("{failure} (nothing was changed)"),
        Answer::Unknown { failure, .. } => format!("{failure} (it may have changed something)"),
    };
    world.strip_paths(&text)
}
