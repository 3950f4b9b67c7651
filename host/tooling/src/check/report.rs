//! Results of a check, in a deterministic order.

use std::collections::BTreeMap;

use serde::Serialize;

use latchwork_core::model::manifest::PluginKind;

use crate::check::finding::Finding;
use crate::check::rule::{RULES, RuleKind, Severity};

/// Version of the JSON format.
pub(super) const SCHEMA: &str = "latchwork.check/1";

/// The checked component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedComponent {
    /// Name of the plugin.
    pub name: String,
    /// Path of the component, as the user named it.
    pub file: String,
    /// SHA-256 of the component.
    pub digest: String,
    /// Kind of the plugin, step or tool. `None` if the component cannot be loaded.
    pub kind: Option<PluginKind>,
    /// Version of the plugin. `None` if the component cannot be loaded.
    pub version: Option<String>,
}

/// State of a rule: checked or not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleState {
    /// Id of the rule.
    pub id: &'static str,
    /// Kind of check that the rule needs.
    pub kind: RuleKind,
    /// Severity of a violation.
    pub severity: Severity,
    /// Title of the rule, which describes a violation.
    pub title: &'static str,
    /// Reason why the rule was not checked. `None` if the rule was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
}

/// A case that was run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CaseRun {
    /// Name of the case.
    pub name: String,
    /// Operator of the case.
    pub operator: String,
    /// Description of how the run ended.
    pub ended: String,
    /// Fuel used by the run.
    pub fuel: u64,
    /// Size of the linear memory at the end of a step, in bytes. Not measured for tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Number of runs of the operator: one per host for a step, one per simulated world for a tool.
    pub runs: u64,
}

/// A history of a real job that was replayed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HistoryRun {
    /// Path of the file, as the user named it.
    pub file: String,
    /// Id of the job.
    pub job: String,
    /// Number of steps that were run again.
    pub steps: u64,
    /// Number of the run steps whose behaviour differed from the history.
    pub diverged: u64,
}

/// Results of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Version of the JSON format.
    pub schema: &'static str,
    /// The checked component.
    pub component: CheckedComponent,
    /// True if no rule with the severity `violation` was violated. Warnings and accepted findings do not count.
    pub passed: bool,
    /// Findings, sorted by rule, operator, case and location.
    pub findings: Vec<Finding>,
    /// State of every rule.
    pub rules: Vec<RuleState>,
    /// The cases that were run, in their order in the file.
    pub cases: Vec<CaseRun>,
    /// The replayed histories, in their given order.
    pub histories: Vec<HistoryRun>,
    /// Notes about omitted runs, with reasons.
    pub notes: Vec<String>,
    /// True if findings were compared with a baseline.
    #[serde(skip)]
    pub(super) has_baseline: bool,
    #[serde(skip)]
    reasons: BTreeMap<&'static str, Option<String>>,
}

impl CheckReport {
    /// Creates a report in which no rule has been checked yet.
    pub fn new(component: CheckedComponent) -> Self {
        Self {
            schema: SCHEMA,
            component,
            passed: true,
            findings: vec![],
            rules: vec![],
            cases: vec![],
            histories: vec![],
            notes: vec![],
            has_baseline: false,
            reasons: BTreeMap::new(),
        }
    }

    /// Adds findings.
    pub fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Returns true if there is a finding of this rule about this operator.
    pub(super) fn has(&self, rule: &str, operator: &str) -> bool {
        self.findings.iter().any(|found| found.rule == rule && found.operator.as_deref() == Some(operator))
    }

    /// Marks the rules of this kind as checked.
    pub fn mark_checked(&mut self, kind: RuleKind) {
        self.set_state(|id| id == kind, &None);
    }

    /// Marks this rule as checked.
    pub fn mark_rule_checked(&mut self, rule: &'static str) {
        self.reasons.insert(rule, None);
    }

    /// Marks the rules of this kind as not checked.
    pub fn mark_not_checked(&mut self, kind: RuleKind, why: &str) {
        self.set_state(|id| id == kind, &Some(why.to_owned()));
    }

    /// Marks this rule as not checked.
    pub fn mark_rule_not_checked(&mut self, rule: &'static str, why: &str) {
        self.reasons.insert(rule, Some(why.to_owned()));
    }

    fn set_state(&mut self, is: impl Fn(RuleKind) -> bool, why: &Option<String>) {
        for rule in RULES.iter().filter(|rule| is(rule.kind())) {
            self.reasons.insert(rule.id, why.clone());
        }
    }

    /// Sorts the report. A rule without a state counts as not checked. A finding without advice gets the
    /// advice of its rule.
    pub fn finish(&mut self) {
        let unsaid = || Some("this check does not cover it".to_owned());
        let state = |rule: &crate::check::Rule| RuleState {
            id: rule.id,
            kind: rule.kind(),
            severity: rule.severity,
            title: rule.title(),
            not_run: self.reasons.get(rule.id).cloned().unwrap_or_else(unsaid),
        };
        self.rules = RULES.iter().map(state).collect();
        for finding in self.findings.iter_mut().filter(|finding| finding.hint.is_none()) {
            finding.hint = crate::check::find_rule(finding.rule).map(crate::check::Rule::advice);
        }
        self.findings.sort();
        self.findings.dedup();
        self.count_passed();
    }

    /// Sets whether the check passes.
    pub(super) fn count_passed(&mut self) {
        self.passed = self.count(Severity::Violation) == 0;
    }

    /// Returns the number of findings with this severity that were not accepted.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.counts_as(severity)).count()
    }

    /// Returns the number of accepted findings with this severity.
    pub fn accepted(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity && finding.accepted.is_some()).count()
    }

    /// Returns the findings of a rule.
    pub fn findings_of<'r>(&'r self, rule: &'r str) -> impl Iterator<Item = &'r Finding> {
        self.findings.iter().filter(move |finding| finding.rule == rule)
    }
}
