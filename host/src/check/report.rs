//! All that a check found, in an order of its own.

use std::collections::BTreeMap;

use latchwork_core::manifest::PluginKind;
use serde::Serialize;

use super::finding::Finding;
use super::rule::{Kind, RULES, Severity};

/// Version of the JSON form.
pub(super) const SCHEMA: &str = "latchwork.check/1";

/// What was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Component {
    /// The plugin's name.
    pub name: String,
    /// Its file, as the one who asks named it.
    pub file: String,
    /// SHA-256 of the component.
    pub digest: String,
    /// Whether it is a step or a tool; none if it cannot be loaded.
    pub kind: Option<PluginKind>,
    /// The plugin's version; none if it cannot be loaded.
    pub version: Option<String>,
}

/// Whether a rule was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleState {
    /// The rule.
    pub id: &'static str,
    /// What it takes to look at it.
    pub kind: Kind,
    /// How bad it is to break it.
    pub severity: Severity,
    /// What a plugin that breaks it does.
    pub title: &'static str,
    /// Why it was not looked at; none if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
}

/// A case that was run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CaseRun {
    /// Its name.
    pub name: String,
    /// Its operator.
    pub operator: String,
    /// How it ended.
    pub ended: String,
    /// Fuel it used.
    pub fuel: u64,
    /// Linear memory that a step ended with; not measured of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How often its operator was run in all: a step under how many hosts, a tool in how many worlds.
    pub runs: u64,
}

/// A history that was replayed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HistoryRun {
    /// The file, as the one who asks named it.
    pub file: String,
    /// The job.
    pub job: String,
    /// Steps that were run again.
    pub steps: u64,
    /// Of these, how many would diverge.
    pub diverged: u64,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: &'static str,
    /// What was checked.
    pub component: Component,
    /// Whether no rule was violated.
    pub passed: bool,
    /// What was found: by rule, operator, case and place.
    pub findings: Vec<Finding>,
    /// Every rule.
    pub rules: Vec<RuleState>,
    /// The cases that were run, in their order.
    pub cases: Vec<CaseRun>,
    /// The histories that were replayed, in their order.
    pub histories: Vec<HistoryRun>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    #[serde(skip)]
    reasons: BTreeMap<&'static str, Option<String>>,
}

impl Report {
    /// Nothing looked at yet.
    pub fn new(component: Component) -> Self {
        Self {
            schema: SCHEMA,
            component,
            passed: true,
            findings: vec![],
            rules: vec![],
            cases: vec![],
            histories: vec![],
            notes: vec![],
            reasons: BTreeMap::new(),
        }
    }

    /// Takes findings up.
    pub fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// The rules of this kind were looked at.
    pub fn ran(&mut self, kind: Kind) {
        self.state(|id| id == kind, &None);
    }

    /// This rule was looked at.
    pub fn ran_rule(&mut self, rule: &'static str) {
        self.reasons.insert(rule, None);
    }

    /// The rules of this kind were not looked at.
    pub fn not_run(&mut self, kind: Kind, why: &str) {
        self.state(|id| id == kind, &Some(why.to_owned()));
    }

    /// This rule was not looked at.
    pub fn not_run_rule(&mut self, rule: &'static str, why: &str) {
        self.reasons.insert(rule, Some(why.to_owned()));
    }

    fn state(&mut self, is: impl Fn(Kind) -> bool, why: &Option<String>) {
        for rule in RULES.iter().filter(|rule| is(rule.kind())) {
            self.reasons.insert(rule.id, why.clone());
        }
    }

    /// Brings everything into its order. A rule without a state was not looked at; a finding without advice gets its
    /// rule's.
    pub fn finish(&mut self) {
        let unsaid = || Some("this check does not reach it".to_owned());
        let state = |rule: &super::Rule| RuleState {
            id: rule.id,
            kind: rule.kind(),
            severity: rule.severity,
            title: rule.title(),
            not_run: self.reasons.get(rule.id).cloned().unwrap_or_else(unsaid),
        };
        self.rules = RULES.iter().map(state).collect();
        for finding in self.findings.iter_mut().filter(|finding| finding.hint.is_none()) {
            finding.hint = super::find(finding.rule).map(super::Rule::what_to_do);
        }
        self.findings.sort();
        self.findings.dedup();
        self.passed = self.count(Severity::Violation) == 0;
    }

    /// How many findings are of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// The findings of a rule.
    pub fn of<'r>(&'r self, rule: &'r str) -> impl Iterator<Item = &'r Finding> {
        self.findings.iter().filter(move |finding| finding.rule == rule)
    }
}
