//! Text reports for people.

use crate::check::render::reports::{CheckResult, FailedInput, Reports};
use crate::check::{Acceptance, CheckReport, Finding, HistoryRun, RuleState, Severity, find_rule};

pub(super) fn render(reports: &Reports) -> String {
    let mut parts: Vec<String> = reports.0.iter().map(result_text).collect();
    if parts.len() > 1 {
        parts.push(summary(reports));
    }
    parts.join("\n")
}

fn result_text(checked: &CheckResult) -> String {
    match checked {
        CheckResult::Report(report) => report_text(report),
        CheckResult::Not(failure) => not_checked(failure),
    }
}

fn not_checked(failure: &FailedInput) -> String {
    let mut lines = vec![failure.file.clone(), format!("not checked: {} [{}]", failure.message, failure.code)];
    lines.extend(failure.problems.iter().map(|problem| format!("  {problem}")));
    lines.push(format!("  do: {}", failure.advice()));
    lines.join("\n") + "\n"
}

fn summary(reports: &Reports) -> String {
    let failed = reports.reports().filter(|report| !report.passed).count();
    let (passed, unchecked) = (reports.reports().count() - failed, reports.failures().count());
    let all = count_of(reports.0.len(), "plugin");
    format!("{all}: {passed} passed, {failed} failed, {unchecked} not checked\n")
}

fn report_text(report: &CheckReport) -> String {
    let component = &report.component;
    let kind = component.kind.map_or("not loaded", |kind| match kind {
        latchwork_core::model::manifest::PluginKind::Step => "step",
        latchwork_core::model::manifest::PluginKind::Tool => "tool",
    });
    let version = component.version.as_deref().unwrap_or("without a version");
    let mut lines = vec![format!("{} ({kind} {version}, {})", component.file, component.digest)];
    for finding in &report.findings {
        lines.extend(lines_of(finding));
    }
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(not_run(&report.rules));
    for history in &report.histories {
        let steps = count_of(usize::try_from(history.steps).unwrap_or(usize::MAX), "step");
        let HistoryRun { file, job, diverged, .. } = history;
        lines.push(format!("history {file}: {job}, {steps} run again, {diverged} would diverge"));
    }
    let ran = report.rules.iter().filter(|rule| rule.not_run.is_none()).count();
    let runs: u64 = report.cases.iter().map(|case| case.runs).sum();
    lines.push(format!(
        "{}: {}, {}{}; {} checked, {} run {}",
        if report.passed { "passed" } else { "failed" },
        count_of(report.count(Severity::Violation), "violation"),
        count_of(report.count(Severity::Warning), "warning"),
        accepted_counts(report),
        count_of(ran, "rule"),
        count_of(report.cases.len(), "case"),
        if runs == 1 { "once".to_owned() } else { format!("{runs} times") },
    ));
    lines.join("\n") + "\n"
}

fn lines_of(finding: &Finding) -> Vec<String> {
    let title = find_rule(finding.rule).map_or("", |rule| rule.title());
    let about: Vec<_> = [finding.operator.clone(), finding.case.as_ref().map(|case| format!("case {case:?}"))]
        .into_iter()
        .flatten()
        .collect();
    let about = if about.is_empty() { String::new() } else { format!(" [{}]", about.join(", ")) };
    let place = match finding.place.line {
        Some(line) => format!("{}:{line}", finding.place.file),
        None => finding.place.file.clone(),
    };
    let mut lines = vec![
        format!("{} {}: {title}{about}", finding.severity.as_str(), finding.rule),
        format!("  at {place}"),
        format!("  {}", finding.message),
    ];
    // Values and advice of an accepted finding would hide the findings that count.
    if let Some(acceptance) = &finding.accepted {
        lines[0] = format!("{} {}", accepted_as(acceptance), lines[0]);
        if let Acceptance::Exception { reason } = acceptance {
            lines.push(format!("  reason: {reason}"));
        }
        return lines;
    }
    if let (Some(expected), Some(found)) = (&finding.expected, &finding.found) {
        lines.push(format!("  expected: {expected}"));
        lines.push(format!("  found:    {found}"));
    }
    if let Some((first, callers)) = finding.functions.split_first() {
        lines.push(format!("  in {first}"));
        lines.extend(callers.iter().map(|caller| format!("    called from {caller}")));
    }
    lines.extend(finding.hint.iter().map(|hint| format!("  do: {hint}")));
    lines
}

/// Word for an accepted finding.
fn accepted_as(acceptance: &Acceptance) -> &'static str {
    match acceptance {
        Acceptance::Baseline => "known",
        Acceptance::Exception { .. } => "excepted",
    }
}

/// Returns the numbers of accepted findings, as a part of the last line.
fn accepted_counts(report: &CheckReport) -> String {
    let count = |word: &str| {
        let accepted = report.findings.iter().filter_map(|finding| finding.accepted.as_ref());
        accepted.filter(|acceptance| accepted_as(acceptance) == word).count()
    };
    ["known", "excepted"].map(|word| (count(word), word)).iter().fold(String::new(), |text, (n, word)| match n {
        0 => text,
        n => format!("{text}, {n} {word}"),
    })
}

/// Lists the rules that were not checked. Consecutive rules with the same reason share a line.
fn not_run(rules: &[RuleState]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for rule in rules {
        let Some(why) = rule.not_run.as_deref() else { continue };
        match groups.last_mut() {
            Some((last, ids)) if *last == why => ids.push(rule.id),
            _ => groups.push((why, vec![rule.id])),
        }
    }
    groups.iter().map(|(why, ids)| format!("rules not checked: {}: {why}", ids.join(", "))).collect()
}

fn count_of(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
