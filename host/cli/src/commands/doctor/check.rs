//! One check of `latch doctor` and its display.

use serde_json::{Value, json};

use crate::text::{Text, Tone};

/// Verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckVerdict {
    /// No problem was found.
    Ok,
    /// Something needs attention.
    Warn,
    /// Something is wrong.
    Fail,
}

/// Result of one check.
#[derive(Clone, Debug)]
pub(super) struct DoctorCheck {
    pub(super) name: &'static str,
    pub(super) verdict: CheckVerdict,
    found: String,
    fix: Option<String>,
    /// Data about the finding for programs that read the JSON output: plugin, job, slot, event or secret.
    subjects: Vec<(&'static str, Value)>,
}

impl DoctorCheck {
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, verdict: CheckVerdict::Ok, found: found.into(), fix: None, subjects: Vec::new() }
    }

    pub(super) fn warn(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: CheckVerdict::Warn, fix: Some(fix.into()), ..Self::ok(name, found) }
    }

    pub(super) fn fail(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: CheckVerdict::Fail, ..Self::warn(name, found, fix) }
    }

    /// Adds a key with a value to the JSON output, such as the plugin or the job that the check is about.
    pub(super) fn with_subject(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.subjects.push((key, value.into()));
        self
    }

    fn document(&self) -> Value {
        let verdict = match self.verdict {
            CheckVerdict::Ok => "ok",
            CheckVerdict::Warn => "warn",
            CheckVerdict::Fail => "fail",
        };
        let mut document = json!({ "check": self.name, "verdict": verdict, "found": self.found, "fix": self.fix });
        for (key, value) in &self.subjects {
            document[*key] = value.clone();
        }
        document
    }
}

pub(super) fn document(checks: &[DoctorCheck]) -> Value {
    let checks: Vec<_> = checks.iter().map(DoctorCheck::document).collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "checks": checks })
}

pub(super) fn lines(checks: &[DoctorCheck]) -> Vec<Text> {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut lines = Vec::new();
    for check in checks {
        let (tone, word) = match check.verdict {
            CheckVerdict::Ok => (Tone::Good, "ok  "),
            CheckVerdict::Warn => (Tone::Attention, "warn"),
            CheckVerdict::Fail => (Tone::Bad, "fail"),
        };
        let found = check.found.replace('\n', &format!("\n      {:width$}  ", ""));
        lines.push(tone.of(word) + format!("  {:width$}  {found}", check.name));
        if let Some(fix) = &check.fix {
            lines.push(Text::from(format!("      {:width$}  ", "")) + Tone::Title.of("fix:") + format!(" {fix}"));
        }
    }
    lines
}
