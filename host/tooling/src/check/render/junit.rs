//! JUnit XML, with a test suite for each kind of rule and a test for each rule.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::check::render::reports::{CheckResult, FailedInput, Reports};
use crate::check::{Acceptance, CheckReport, Finding, RuleKind, RuleState, Severity};

pub(super) fn render(reports: &Reports) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let name = match reports.0.as_slice() {
        [CheckResult::Report(report)] => escaped(&report.component.name),
        _ => "latch plugin check".to_owned(),
    };
    let mut totals = SuiteTotals::default();
    for report in reports.reports() {
        totals.add(&SuiteTotals::of(report, &report.rules.iter().collect::<Vec<_>>()));
    }
    for _ in reports.failures() {
        totals.add(&SuiteTotals::UNCHECKED);
    }
    let _ = writeln!(xml, "<testsuites name=\"{name}\" {totals}>");
    for checked in &reports.0 {
        match checked {
            CheckResult::Report(report) => suites(&mut xml, report),
            CheckResult::Not(failure) => unchecked(&mut xml, failure),
        }
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// Writes a suite for each kind of rule.
fn suites(xml: &mut String, report: &CheckReport) {
    let name = escaped(&report.component.name);
    for kind in RuleKind::ALL {
        let rules: Vec<_> = report.rules.iter().filter(|rule| rule.kind == kind).collect();
        if rules.is_empty() {
            continue;
        }
        let totals = SuiteTotals::of(report, &rules);
        let _ = writeln!(xml, "  <testsuite name=\"{name} {}\" {totals}>", kind.as_str());
        for rule in rules {
            test(xml, report, rule);
        }
        xml.push_str("  </testsuite>\n");
    }
}

/// Writes a suite with one error for an input that could not be checked.
fn unchecked(xml: &mut String, failure: &FailedInput) {
    let (file, code) = (escaped(&failure.file), failure.code);
    let text = escaped(&format!("{}\ndo: {}", failure.text(), failure.advice()));
    let _ = writeln!(xml, "  <testsuite name=\"{file}\" {}>", SuiteTotals::UNCHECKED);
    let _ = writeln!(xml, "    <testcase classname=\"{file}\" name=\"it can be checked\">");
    let _ = writeln!(xml, "      <error type=\"{code}\" message=\"{}\">{text}</error>", escaped(&failure.message));
    xml.push_str("    </testcase>\n  </testsuite>\n");
}

fn test(xml: &mut String, report: &CheckReport, rule: &RuleState) {
    let (name, title) = (escaped(&report.component.name), escaped(rule.title));
    let class = format!("{name}.{}", rule.kind.as_str());
    let _ = writeln!(xml, "    <testcase classname=\"{class}\" name=\"{} {title}\">", rule.id);
    let found: Vec<_> = report.findings_of(rule.id).collect();
    if let (Some(why), true) = (&rule.not_run, found.is_empty()) {
        let _ = writeln!(xml, "      <skipped message=\"{}\"/>", escaped(why));
    }
    if is_excused(&found) {
        let reasons: BTreeSet<_> = found.iter().filter_map(|finding| finding.accepted.as_ref()).map(reason).collect();
        let reasons: Vec<_> = reasons.into_iter().collect();
        let _ = writeln!(xml, "      <skipped message=\"accepted: {}\"/>", escaped(&reasons.join("; ")));
    }
    for finding in &found {
        let (message, text) = (escaped(&finding.message), escaped(&lines(finding)));
        if let Some(acceptance) = &finding.accepted {
            let reason = escaped(reason(acceptance));
            let _ = writeln!(xml, "      <system-out>accepted ({reason}): {text}</system-out>");
            continue;
        }
        let _ = match finding.severity {
            Severity::Violation => {
                writeln!(xml, "      <failure type=\"{}\" message=\"{message}\">{text}</failure>", rule.id)
            }
            // JUnit has no warnings, so a warning becomes the output of a passed test.
            Severity::Warning => writeln!(xml, "      <system-out>warning: {text}</system-out>"),
        };
    }
    xml.push_str("    </testcase>\n");
}

/// Returns true if violations of a rule were found and all of them were accepted.
fn is_excused(found: &[&Finding]) -> bool {
    let has = |accepted: bool| {
        found.iter().any(|one| one.severity == Severity::Violation && one.accepted.is_some() == accepted)
    };
    has(true) && !has(false)
}

/// Reason why a finding was accepted.
fn reason(acceptance: &Acceptance) -> &str {
    match acceptance {
        Acceptance::Baseline => "known in the baseline",
        Acceptance::Exception { reason } => reason,
    }
}

fn lines(finding: &Finding) -> String {
    let place = match finding.place.line {
        Some(line) => format!("{}:{line}", finding.place.file),
        None => finding.place.file.clone(),
    };
    let mut lines = vec![finding.message.clone(), format!("at {place}")];
    lines.extend(finding.operator.iter().map(|operator| format!("operator {operator}")));
    lines.extend(finding.case.iter().map(|case| format!("case {case}")));
    lines.extend(finding.expected.iter().map(|expected| format!("expected: {expected}")));
    lines.extend(finding.found.iter().map(|found| format!("found: {found}")));
    lines.extend(finding.functions.iter().map(|function| format!("in {function}")));
    lines.extend(finding.hint.iter().map(|hint| format!("do: {hint}")));
    lines.join("\n")
}

/// Attributes of a suite.
#[derive(Default)]
struct SuiteTotals {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl SuiteTotals {
    /// Totals of an input that could not be checked.
    const UNCHECKED: SuiteTotals = SuiteTotals { tests: 1, failures: 0, errors: 1, skipped: 0 };

    fn add(&mut self, other: &SuiteTotals) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
    }

    fn of(report: &CheckReport, rules: &[&RuleState]) -> Self {
        let fails = |rule: &&&RuleState| report.findings_of(rule.id).any(|found| found.counts_as(Severity::Violation));
        let skipped = |rule: &&&RuleState| {
            let found: Vec<_> = report.findings_of(rule.id).collect();
            is_excused(&found) || (rule.not_run.is_some() && found.is_empty())
        };
        Self {
            tests: rules.len(),
            failures: rules.iter().filter(fails).count(),
            errors: 0,
            skipped: rules.iter().filter(skipped).count(),
        }
    }
}

impl std::fmt::Display for SuiteTotals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tests, failures, errors, skipped } = self;
        write!(f, "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
    }
}

/// Escapes a text for an attribute or an element. Characters that XML cannot represent become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            c if (c as u32) < 0x20 || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_special_characters_are_escaped() {
        assert_eq!(escaped("a<b>&\"c\"\n\u{1}\u{ffff}é"), "a&lt;b&gt;&amp;&quot;c&quot;&#10;\u{fffd}\u{fffd}é");
    }
}
