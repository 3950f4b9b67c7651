//! Runs every case of a tool.

use latchwork_core::model::manifest::RecoveryClass;

use crate::check::case_problem::CaseProblem;
use crate::check::finding::Finding;
use crate::check::parallel;
use crate::check::report::CheckReport;
use crate::check::rule::RuleKind;
use crate::check::tools::case::ToolCase;
use crate::check::tools::derived_cases::{DerivedCase, derived_cases};
use crate::check::tools::drawn_cases::drawn_cases;
use crate::check::tools::running_case::{RunningCase, ToolCheck};
use crate::check::tools::{
    after_others, at_once, interrupted, keyless_reconcile, long_contents, lost_record, missing_secrets, named_undo,
    never_undone, other_config, other_inputs, other_keys, other_operator, own_changes, partly_made, pure,
    refused_reads, refused_writes, removed_entries, repeated, server_faults, single_call, two_calls,
    undo_of_repetition, undone, unreadable,
};

/// Runs every case.
///
/// # Errors
/// Returns the cases that name an unknown operator or that could not be run, with their lines.
pub(crate) async fn run(
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
    let mut undos = Vec::new();
    for (case, running) in cases.iter().zip(parallel::for_each(cases, async |case| run_case(tools, case, cases).await))
    {
        let mut running = running.map_err(|error| not_run(case, &error))?;
        undos.extend(running.undo.take().map(|undo| (case, undo)));
        report.add(running.found);
        report.cases.extend(running.ran);
        for note in running.notes {
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
    }
    report.add(never_undone::never_undone(tools, &undos));
    run_derived(tools, cases, report).await?;
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

/// Runs the cases that are derived from calls, and those that are drawn.
async fn run_derived(
    tools: &ToolCheck<'_>,
    cases: &[ToolCase],
    report: &mut CheckReport,
) -> Result<(), Vec<CaseProblem>> {
    let mut derived = derived_cases(tools, cases).await.map_err(|error| not_run(&cases[0], &error))?;
    let drawn = drawn_cases(tools, cases).await.map_err(|error| not_run(&cases[0], &error))?;
    derived.extend(drawn.cases);
    add_new(report, drawn.found);
    let ran = parallel::for_each(&derived, async |DerivedCase { case, .. }| run_case(tools, case, cases).await);
    for (DerivedCase { when, case }, running) in derived.iter().zip(ran) {
        let mut running = running.map_err(|error| not_run(case, &error))?;
        for found in &mut running.found {
            found.message = format!("{when}, {}", found.message);
        }
        add_new(report, running.found);
    }
    Ok(())
}

/// Adds the findings whose defect is not known from the cases of their operator.
fn add_new(report: &mut CheckReport, mut found: Vec<Finding>) {
    found.retain(|one| !report.has(one.rule, one.operator.as_deref().unwrap_or_default()));
    report.add(found);
}

/// A case that could not run must not count as passed.
fn not_run(case: &ToolCase, error: &std::io::Error) -> Vec<CaseProblem> {
    let message = format!("case {} could not be run: {error}", case.name);
    vec![CaseProblem { line: case.line, column: None, pointer: String::new(), message }]
}

/// Checks the tool in these situations: all servers work, the record of the call is lost, the host is killed during the
/// call, the call is undone, calls with other keys are made, and servers fail.
async fn run_case<'c>(
    tools: &'c ToolCheck<'_>,
    case: &'c ToolCase,
    all_cases: &'c [ToolCase],
) -> std::io::Result<RunningCase<'c>> {
    let mut running = RunningCase::new(tools, case, all_cases);
    let case = &mut running;
    single_call::run(case).await?;
    pure::run(case).await?;
    repeated::run(case).await?;
    lost_record::run(case).await?;
    partly_made::run(case).await?;
    removed_entries::run(case).await?;
    keyless_reconcile::run(case).await?;
    interrupted::run(case).await?;
    own_changes::run(case).await?;
    undone::run(case).await?;
    undo_of_repetition::run(case).await?;
    named_undo::run(case).await?;
    unreadable::run(case).await?;
    long_contents::run(case).await?;
    two_calls::run(case).await?;
    at_once::run(case).await?;
    other_operator::run(case).await?;
    other_config::run(case).await?;
    missing_secrets::run(case).await?;
    other_keys::run(case).await?;
    refused_writes::run(case).await?;
    refused_reads::run(case).await?;
    other_inputs::run(case).await?;
    after_others::run(case).await?;
    server_faults::run(case).await?;
    Ok(running)
}
