//! Findings that do not fail a check: those that a baseline knows, and those that an exception accepts with a reason.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::check::acceptance::Acceptance;
use crate::check::finding::Finding;
use crate::check::report::CheckReport;

/// Version of the format of a baseline.
const SCHEMA: &str = "latchwork.check-baseline/1";

/// Findings that the author of a plugin accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Id of the rule.
    pub rule: String,
    /// Operator of the findings. `None` for all operators.
    pub operator: Option<String>,
    /// Function that is in the call stack of the findings. `None` for all functions.
    pub function: Option<String>,
    /// Reason why the findings are accepted.
    pub reason: String,
}

impl Exception {
    fn covers(&self, finding: &Finding) -> bool {
        let is_operator = |operator: &String| finding.operator.as_ref() == Some(operator);
        let is_function = |function: &String| finding.functions.iter().any(|name| name == function);
        self.rule == finding.rule
            && self.operator.as_ref().is_none_or(is_operator)
            && self.function.as_ref().is_none_or(is_function)
    }

    fn describe(&self) -> String {
        let operator = self.operator.iter().map(|operator| format!(" of {operator}"));
        let function = self.function.iter().map(|function| format!(" in {function}"));
        operator.chain(function).fold(self.rule.clone(), |text, part| text + &part)
    }
}

/// Known findings, from a file that an earlier check wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    known: BTreeSet<KnownFinding>,
}

/// The parts of a finding that stay the same in another build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFinding {
    plugin: String,
    rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operator: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    case: Option<String>,
    /// Message of the finding, if the finding has no operator. Two findings without an operator can differ in their
    /// message alone. `None` for a finding with an operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineFile {
    schema: String,
    findings: BTreeSet<KnownFinding>,
}

impl KnownFinding {
    fn of(plugin: &str, finding: &Finding) -> Self {
        let message = finding.operator.is_none().then(|| finding.message.clone());
        let (operator, case) = (finding.operator.clone(), finding.case.clone());
        Self { plugin: plugin.to_owned(), rule: finding.rule.to_owned(), operator, case, message }
    }

    fn describe(&self) -> String {
        let operator = self.operator.iter().map(|operator| format!(" of {operator}"));
        let case = self.case.iter().map(|case| format!(", case {case:?}"));
        let message = self.message.iter().map(|message| format!(": {message}"));
        operator.chain(case).chain(message).fold(self.rule.clone(), |text, part| text + &part)
    }
}

impl Baseline {
    /// Reads the text of a baseline.
    ///
    /// # Errors
    /// Returns the line and the problem.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let file: BaselineFile = serde_json::from_str(text).map_err(|error| (error.line(), error.to_string()))?;
        match file.schema == SCHEMA {
            true => Ok(Self { known: file.findings }),
            false => Err((1, format!("its schema is {:?}, and this program reads {SCHEMA:?}", file.schema))),
        }
    }

    /// Returns the baseline of these reports. Entries of `earlier` about other plugins stay. Findings that an exception
    /// accepts are left out.
    pub fn of<'r>(reports: impl Iterator<Item = &'r CheckReport> + Clone, earlier: &Self) -> Self {
        let is_checked = |plugin: &str| reports.clone().any(|report| report.component.name == plugin);
        let kept = earlier.known.iter().filter(|known| !is_checked(&known.plugin)).cloned();
        let found = reports.clone().flat_map(|report| {
            let open = report.findings.iter().filter(|finding| finding.accepted.is_none());
            open.map(|finding| KnownFinding::of(&report.component.name, finding))
        });
        Self { known: kept.chain(found).collect() }
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let file = BaselineFile { schema: SCHEMA.to_owned(), findings: self.known.clone() };
        serde_json::to_string_pretty(&file).expect("texts are JSON") + "\n"
    }
}

impl CheckReport {
    /// Marks the findings that an exception accepts. Adds a note for each exception that accepts no finding.
    pub fn accept_exceptions(&mut self, exceptions: &[Exception]) {
        for exception in exceptions {
            let mut is_used = false;
            for finding in self.findings.iter_mut().filter(|finding| exception.covers(finding)) {
                is_used = true;
                finding.accepted.get_or_insert(Acceptance::Exception { reason: exception.reason.clone() });
            }
            if !is_used && self.is_checked(&exception.rule) {
                let what = exception.describe();
                self.notes.push(format!("no finding needs the exception for {what}: remove it from latch-plugin.toml"));
            }
        }
        self.count_passed();
    }

    /// Marks the findings that the baseline knows. Adds a note for each entry of the baseline that this check no longer
    /// finds.
    pub fn accept_baseline(&mut self, baseline: &Baseline) {
        self.has_baseline = true;
        let plugin = self.component.name.clone();
        let mut found = BTreeSet::new();
        for finding in &mut self.findings {
            let known = KnownFinding::of(&plugin, finding);
            if baseline.known.contains(&known) {
                finding.accepted.get_or_insert(Acceptance::Baseline);
                found.insert(known);
            }
        }
        for known in baseline.known.iter().filter(|known| known.plugin == plugin && !found.contains(known)) {
            if self.is_checked(&known.rule) {
                let what = known.describe();
                self.notes.push(format!("no longer found: {what}; --write-baseline removes it from the baseline"));
            }
        }
        self.count_passed();
    }

    /// Returns true if the rule was checked. Also returns true if no rule has this id.
    fn is_checked(&self, rule: &str) -> bool {
        self.rules.iter().find(|state| state.id == rule).is_none_or(|state| state.not_run.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::report::CheckedComponent;
    use crate::check::{RuleKind, Severity};

    fn report(findings: Vec<Finding>) -> CheckReport {
        let component = CheckedComponent {
            name: "mail".into(),
            file: "mail.wasm".into(),
            digest: String::new(),
            kind: None,
            version: None,
        };
        let mut report = CheckReport::new(component);
        report.add(findings);
        report.mark_checked(RuleKind::Dynamic);
        report.mark_checked(RuleKind::Static);
        report.finish();
        report
    }

    fn finding(rule: &str, operator: Option<&str>, message: &str) -> Finding {
        let finding = Finding::new(rule, "mail.wasm", message);
        operator.map_or(finding.clone(), |operator| finding.of(operator).case("one"))
    }

    /// I228: a known finding passes, a new one fails, and an entry that is not found any more is reported.
    #[test]
    fn baseline_knows_findings_by_rule_operator_and_case() {
        let found = vec![finding("D066", Some("Mail.Send"), "at 0x7f01"), finding("D002", None, "imports a")];
        let first = report(found);
        assert!(!first.passed);
        let baseline = Baseline::of([&first].into_iter(), &Baseline::default());
        assert_eq!(Baseline::parse(&baseline.text()).unwrap(), baseline);

        // The message of a finding with an operator may hold a value that differs in each build.
        let mut same =
            report(vec![finding("D066", Some("Mail.Send"), "at 0x7f02"), finding("D002", None, "imports a")]);
        same.accept_baseline(&baseline);
        assert!(same.passed && same.notes.is_empty(), "{same:#?}");
        assert_eq!((same.count(Severity::Violation), same.accepted(Severity::Violation)), (0, 2));

        let mut other =
            report(vec![finding("D066", Some("Mail.Read"), "at 0x7f01"), finding("D002", None, "imports b")]);
        other.accept_baseline(&baseline);
        assert_eq!((other.passed, other.count(Severity::Violation)), (false, 2));
        assert_eq!(other.notes.len(), 2, "{:?}", other.notes);
        assert!(other.notes.iter().any(|note| note.contains("D066 of Mail.Send, case \"one\"")), "{:?}", other.notes);
    }

    #[test]
    fn rules_that_were_not_checked_and_other_plugins_keep_their_entries() {
        let unchecked = |rule: &str, plugin: &str| KnownFinding {
            plugin: plugin.into(),
            rule: rule.into(),
            operator: Some("A.B".into()),
            case: None,
            message: None,
        };
        let baseline = Baseline { known: [unchecked("D150", "mail"), unchecked("D066", "other")].into() };
        let mut none = report(vec![]);
        none.accept_baseline(&baseline);
        assert!(none.notes.is_empty(), "{:?}", none.notes);
        let written = Baseline::of([&none].into_iter(), &baseline);
        assert_eq!(written.known, [unchecked("D066", "other")].into());
    }

    /// I228: an exception covers its rule and its operator or function alone, and its reason is in the finding.
    #[test]
    fn exception_covers_its_operator_or_function_alone() {
        let exception = |rule: &str, operator: Option<&str>, function: Option<&str>| Exception {
            rule: rule.into(),
            operator: operator.map(str::to_owned),
            function: function.map(str::to_owned),
            reason: "agreed".into(),
        };
        let in_function = finding("D066", Some("Mail.Send"), "x").functions(vec!["mail::send".into()]);
        for (exception, covered) in [
            (exception("D066", Some("Mail.Send"), None), true),
            (exception("D066", None, Some("mail::send")), true),
            (exception("D066", Some("Mail.Send"), Some("mail::other")), false),
            (exception("D066", Some("Mail.Read"), None), false),
            (exception("D064", Some("Mail.Send"), None), false),
        ] {
            let mut report = report(vec![in_function.clone()]);
            report.accept_exceptions(std::slice::from_ref(&exception));
            assert_eq!((report.passed, report.notes.len()), (covered, usize::from(!covered)), "{exception:?}");
            let reason = covered.then(|| Acceptance::Exception { reason: "agreed".into() });
            assert_eq!(report.findings[0].accepted, reason);
        }
    }

    #[test]
    fn malformed_baseline_is_refused_with_its_line() {
        for (text, line, part) in [
            ("{\n\"schema\": \"latchwork.check-baseline/2\", \"findings\": []}", 1, "check-baseline/1"),
            ("{\n\"schema\": \"latchwork.check-baseline/1\",\n\"found\": []}", 3, "unknown field"),
            ("no", 1, "expected"),
        ] {
            let (at, why) = Baseline::parse(text).unwrap_err();
            assert!(at == line && why.contains(part), "{at} {why}");
        }
    }
}
