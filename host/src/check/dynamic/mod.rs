//! Rules that run steps. Each case runs once under the usual host and again under alternative hosts.
//!
//! The engine hides most differences between hosts from a step. The remaining differences are the stack of the machine,
//! failures of tools, and the entropy of the build. These rules find steps that depend on the remaining differences.
//! The rules also find errors of the host itself.

mod builds;
mod case;
mod cases;
mod failing_calls;
mod hosts;
mod memory_layout;
pub(crate) mod other_process;
mod perturb;
mod run_end;
pub(crate) mod script;
pub(crate) mod trace;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::script::RunScript;
use self::trace::Trace;
use super::finding::Finding;
use super::report::{CaseRun, CheckReport};
use super::rule::RuleKind;
use crate::engine::Plugin;

pub use builds::RebuiltComponent;
pub use case::{CaseAnswer, RecordedEnvironment, StepCase};
pub use cases::{CaseProblem, parse};
pub(super) use cases::{duplicate_key, line_at};
pub(super) use hosts::HostVariants;
pub use other_process::OtherProcess;

/// Maximum fuel of all additional runs of one case together. At this limit the remaining runs are left out, and the
/// report notes the omission. The limit is in fuel instead of time. The same case therefore leaves out the same runs on
/// every machine.
const CASE_FUEL_MAX: u64 = 20_000_000_000;

/// A case, its script and the trace of its usual run.
struct CaseBaseline<'a> {
    case: &'a StepCase,
    script: RunScript,
    base: Trace,
}

impl CaseBaseline<'_> {
    /// Creates a finding about this case.
    fn finding(&self, rule: &str, message: impl Into<String>) -> Finding {
        finding_about(self.case, rule, message)
    }
}

/// Creates a finding about a case.
fn finding_about(case: &StepCase, rule: &str, message: impl Into<String>) -> Finding {
    let finding = Finding::new(rule, &case.place.file, message);
    finding.at(case.place.line).of(&case.operator).case(&case.name)
}

/// Returns a problem for each case whose operator the plugin does not serve.
pub(super) fn unserved_cases(plugin: &Plugin, cases: &[StepCase]) -> Vec<CaseProblem> {
    let served = || plugin.manifest.operators.iter().map(|spec| spec.name.as_str());
    let foreign = cases.iter().filter(|case| plugin.operator(&case.operator).is_none());
    let wrong = foreign.map(|case| CaseProblem {
        line: case.place.line.unwrap_or(1),
        column: None,
        pointer: "/operator".to_owned(),
        message: format!(
            "the plugin serves no operator {:?}{}",
            case.operator,
            latchwork_core::encoding::suggest::did_you_mean(&case.operator, served())
        ),
    });
    wrong.collect()
}

/// Runs every case under every host.
pub(super) async fn run(
    plugin: &Arc<Plugin>,
    hosts: &HostVariants<'_>,
    cases: &[StepCase],
    file: &str,
    report: &mut CheckReport,
) {
    let with_case: BTreeSet<&str> = cases.iter().map(|case| case.operator.as_str()).collect();
    for spec in plugin.manifest.operators.iter().filter(|spec| !with_case.contains(spec.name.as_str())) {
        let message = format!("{} has no case, so its behaviour is not checked", spec.name);
        let hint = "write a line for it into cases.jsonl, or give --history an exported job that ran it";
        report.add([Finding::new("D050", file, message).of(spec.name.as_str()).hint(hint)]);
    }
    if cases.is_empty() {
        report.mark_not_checked(RuleKind::Dynamic, "there are no cases");
        report.mark_rule_checked("D050");
        return;
    }
    report.mark_checked(RuleKind::Dynamic);
    let loaded = hosts.load(plugin, report);
    (hosts.progress)(&format!("running the cases of {}", hosts.settings.name));
    let mut ran = Vec::new();
    for case in cases {
        let value = serde_json::from_str(&case.input).expect("a case's input is JSON");
        if let Err(failure) = plugin.check_input(&case.operator, &value) {
            let hint = "fix the case, or the operator's input schema";
            report.add([finding_about(case, "D054", failure.message).hint(hint)]);
            continue;
        }
        let script = case.script(plugin.limits(&case.operator));
        let base = script.run(plugin).await;
        let mut run = CaseRun {
            name: case.name.clone(),
            operator: case.operator.clone(),
            ended: base.describe_end(),
            fuel: base.fuel,
            memory_bytes: Some(base.memory_bytes),
            runs: 1,
        };
        let one = CaseBaseline { case, script, base };
        report.add(crate::check::dynamic::run_end::check_end(&one));
        report.add(crate::check::dynamic::run_end::check_fit(&one));
        if one.base.fault().is_none() {
            let mut runs = perturb::PerturbedRuns::new(&one, &mut run.runs);
            report.add(perturb::all_variations(&mut runs, plugin, &loaded).await);
            report.add(crate::check::dynamic::failing_calls::failing_calls(&mut runs, plugin).await);
            if let Some(other) = &loaded.rebuilt {
                report.add(builds::compare(&mut runs, other).await);
            }
            if runs.left_out {
                let note = format!("case {:?} takes so much fuel that not all of its runs were made", case.name);
                report.notes.push(note);
            }
        }
        report.cases.push(run);
        ran.push(one);
    }
    crate::check::dynamic::other_process::compare(hosts, &ran, report).await;
}
