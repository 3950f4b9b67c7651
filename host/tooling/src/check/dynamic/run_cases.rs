//! Runs every case under every host.

use std::collections::BTreeSet;
use std::sync::Arc;

use latchwork_core::model::error::Code;
use latchwork_engine::Plugin;

use crate::check::case_problem::CaseProblem;
use crate::check::dynamic::baseline::{CaseBaseline, finding_about};
use crate::check::dynamic::case::StepCase;
use crate::check::dynamic::host_codes::NamedCode;
use crate::check::dynamic::hosts::HostVariants;
use crate::check::dynamic::loaded_variants::LoadedVariants;
use crate::check::dynamic::perturbed_runs::PerturbedRuns;
use crate::check::dynamic::{
    action_keys, builds, called_effects, classes, clock_periods, drawn_inputs, failing_calls, host_codes, other_inputs,
    other_process, other_seeds, perturb, polling, run_end, schema_limits, unoptimized,
};
use crate::check::finding::Finding;
use crate::check::parallel;
use crate::check::report::{CaseRun, CheckReport};
use crate::check::rule::RuleKind;

/// Runs every case under every host.
pub(crate) async fn run(
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
    let ran = run_as_usual(plugin, cases, report).await;
    // The runs of the other process begin early, because they may take long.
    let unoptimized = unoptimized::start(hosts, &ran);
    let loaded = hosts.load(plugin, report);
    (hosts.progress)(&format!("running the cases of {}", hosts.settings.name));
    let usable: Vec<&CaseBaseline<'_>> = ran.iter().filter(|one| one.base.fault().is_none()).collect();
    let (mut differing, mut named_codes) = (Vec::new(), Vec::new());
    let all = parallel::for_each(&usable, async |one| run_again(one, &usable, plugin, hosts, &loaded).await);
    for (one, more) in usable.iter().zip(all) {
        if more.found.iter().any(|finding| ["D062", "D066"].contains(&finding.rule)) {
            differing.push(one.case.name.as_str());
        }
        report.add(more.found);
        named_codes.extend(more.named_codes);
        if more.left_out {
            let note = format!("case {:?} takes so much fuel that not all of its runs were made", one.case.name);
            report.notes.push(note);
        }
        for run in report.cases.iter_mut().filter(|run| run.name == one.case.name) {
            run.runs += more.count;
        }
    }
    report.add(host_codes::never_read(named_codes));
    if let Some(pending) = unoptimized {
        unoptimized::compare(hosts, pending, &ran, &differing, report).await;
    }
    other_process::compare(hosts, &ran, report);
}

/// The additional runs of a case.
struct MoreRuns {
    found: Vec<Finding>,
    /// Codes of the host in the plugin's sources.
    named_codes: Vec<NamedCode>,
    /// Number of runs.
    count: u64,
    /// True if some runs were left out because the fuel limit was reached.
    left_out: bool,
}

/// Runs a case again under other hosts, with other answers and with other inputs.
async fn run_again(
    one: &CaseBaseline<'_>,
    all: &[&CaseBaseline<'_>],
    plugin: &Plugin,
    hosts: &HostVariants<'_>,
    loaded: &LoadedVariants,
) -> MoreRuns {
    let mut count = 0;
    let mut runs = PerturbedRuns::new(one, &mut count);
    let mut named_codes = Vec::new();
    let mut found = perturb::all_variations(&mut runs, plugin, loaded).await;
    found.extend(failing_calls::failing_calls(&mut runs, plugin).await);
    if let Some(other) = &loaded.rebuilt {
        found.extend(builds::compare(&mut runs, other).await);
    }
    found.extend(called_effects::compare(one, plugin, hosts.declaration_of));
    found.extend(classes::compare(&mut runs, plugin, hosts.declaration_of).await);
    // The same defect would be reported for other inputs, too.
    if found.is_empty() {
        found.extend(polling::poll(&mut runs, plugin).await);
        found.extend(other_seeds::vary_seeds(&mut runs, plugin).await);
        found.extend(action_keys::compare(&mut runs, plugin).await);
        found.extend(clock_periods::compare(&mut runs, plugin).await);
        found.extend(schema_limits::fill(&mut runs, plugin).await);
        named_codes.extend(host_codes::compare(&mut runs, plugin, hosts.known).await);
    }
    if found.is_empty() {
        found.extend(other_inputs::vary_input(&mut runs, plugin, loaded, hosts.known).await);
    }
    if found.is_empty() {
        let samples = drawn_inputs::samples_of(&one.case.operator, all);
        found.extend(drawn_inputs::run(&mut runs, plugin, &samples, loaded.has_runtime).await);
    }
    let left_out = runs.left_out;
    MoreRuns { found, named_codes, count, left_out }
}

/// Runs every case under the usual host. Returns the cases whose input fits their operator.
async fn run_as_usual<'c>(
    plugin: &Arc<Plugin>,
    cases: &'c [StepCase],
    report: &mut CheckReport,
) -> Vec<CaseBaseline<'c>> {
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
        report.cases.push(CaseRun {
            name: case.name.clone(),
            operator: case.operator.clone(),
            ended: base.describe_end(),
            fuel: base.fuel,
            memory_bytes: Some(base.memory_bytes),
            runs: 1,
        });
        let one = CaseBaseline { case, script, base };
        match one.base.fault() {
            Some(failure) if failure.code == Code::MachineFault => {
                report.notes.push(format!("case {:?} was not checked: {}", case.name, failure.message));
            }
            _ => {
                report.add(run_end::check_end(&one));
                report.add(run_end::check_fit(&one));
            }
        }
        ran.push(one);
    }
    ran
}

/// Returns a problem for each case whose operator the plugin does not serve.
pub(crate) fn unserved_cases(plugin: &Plugin, cases: &[StepCase]) -> Vec<CaseProblem> {
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
