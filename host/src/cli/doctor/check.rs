//! One check of `latch doctor` and its display.

use serde_json::{Value, json};

use crate::cli::output::{Text, Tone};

/// Verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No problem was found.
    Ok,
    /// Something needs attention.
    Warn,
    /// Something is wrong.
    Fail,
}

/// Result of one check.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    found: String,
    fix: Option<String>,
    /// Subjects of the check for programs: plugin, job, slot, event or secret.
    about: Vec<(&'static str, Value)>,
}

impl Check {
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, found: found.into(), fix: None, about: Vec::new() }
    }

    pub(super) fn warn(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, fix: Some(fix.into()), ..Self::ok(name, found) }
    }

    pub(super) fn fail(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(name, found, fix) }
    }

    /// Adds a subject of the check for programs.
    pub(super) fn about(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.about.push((key, value.into()));
        self
    }

    fn document(&self) -> Value {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Fail => "fail",
        };
        let mut document = json!({ "check": self.name, "verdict": verdict, "found": self.found, "fix": self.fix });
        for (key, value) in &self.about {
            document[*key] = value.clone();
        }
        document
    }
}

pub(super) fn document(checks: &[Check]) -> Value {
    let checks: Vec<_> = checks.iter().map(Check::document).collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "checks": checks })
}

pub(super) fn lines(checks: &[Check]) -> Vec<Text> {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut lines = Vec::new();
    for check in checks {
        let (tone, word) = match check.verdict {
            Verdict::Ok => (Tone::Good, "ok  "),
            Verdict::Warn => (Tone::Attention, "warn"),
            Verdict::Fail => (Tone::Bad, "fail"),
        };
        let found = check.found.replace('\n', &format!("\n      {:width$}  ", ""));
        lines.push(tone.of(word) + format!("  {:width$}  {found}", check.name));
        if let Some(fix) = &check.fix {
            lines.push(Text::from(format!("      {:width$}  ", "")) + Tone::Title.of("fix:") + format!(" {fix}"));
        }
    }
    lines
}
