//! One thing that was looked at, and how it is shown.

use serde_json::{Value, json};

use crate::cli::output::{Text, Tone};

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is as it should be.
    Ok,
    /// It is worth attention.
    Warn,
    /// It is wrong.
    Fail,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    found: String,
    fix: Option<String>,
    /// What it is about, for programs: plugin, job, slot, event, secret.
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

    /// Names for programs what it is about.
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
