//! SARIF 2.1.0 in the form that code hosts accept.

use serde_json::{Value, json};

use crate::check::render::reports::{CheckResult, FailedInput, Reports};
use crate::check::{Acceptance, CheckReport, Finding, RULES, Rule, Severity};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Renders one run for each input.
pub(super) fn render(reports: &Reports) -> Value {
    let runs = reports.0.iter().map(|checked| match checked {
        CheckResult::Report(report) => run(report),
        CheckResult::Not(failure) => unchecked(failure),
    });
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": runs.collect::<Vec<_>>() })
}

fn run(report: &CheckReport) -> Value {
    json!({
        "tool": { "driver": driver(RULES) },
        "automationDetails": { "id": format!("latch-plugin-check/{}/", report.component.name) },
        "invocations": [{ "executionSuccessful": true }],
        "columnKind": "unicodeCodePoints",
        "results": report.findings.iter().map(|finding| result(finding, report.has_baseline)).collect::<Vec<_>>(),
    })
}

fn driver(rules: &[Rule]) -> Value {
    json!({
        "name": "latch plugin check",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.iter().map(rule).collect::<Vec<_>>(),
    })
}

/// Renders an input that could not be checked as an unsuccessful run with the reason.
fn unchecked(failure: &FailedInput) -> Value {
    let text = format!("{}\ndo: {}", failure.text(), failure.advice());
    json!({
        "tool": { "driver": driver(&[]) },
        "automationDetails": { "id": format!("latch-plugin-check/{}/", failure.file) },
        "invocations": [{
            "executionSuccessful": false,
            "toolExecutionNotifications": [{
                "descriptor": { "id": failure.code },
                "level": "error",
                "message": { "text": text },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(&failure.file) } } }],
            }],
        }],
        "columnKind": "unicodeCodePoints",
        "results": [],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Violation => "error",
        Severity::Warning => "warning",
    }
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title() },
        "fullDescription": { "text": what_is_wrong(rule.page) },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "tags": [rule.kind().as_str()] },
    })
}

/// Returns the first section of a page as one line.
fn what_is_wrong(page: &str) -> String {
    let body = page.split("\n## ").nth(1).unwrap_or_default();
    let body = body.split_once('\n').map_or("", |(_, body)| body);
    body.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn result(finding: &Finding, has_baseline: bool) -> Value {
    let index = RULES.iter().position(|rule| rule.id == finding.rule);
    let mut text = finding.message.clone();
    for (what, value) in [("expected", &finding.expected), ("found", &finding.found), ("do", &finding.hint)] {
        if let Some(value) = value {
            text += &format!("\n{what}: {value}");
        }
    }
    let logical = |name: &String, kind: &str| json!({ "fullyQualifiedName": name, "kind": kind });
    let operator = finding.operator.iter().map(|operator| logical(operator, "function"));
    let functions = finding.functions.iter().map(|function| logical(function, "function"));
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&finding.place.file) },
            // Code hosts require a line, so the whole component is reported as line 1.
            "region": { "startLine": finding.place.line.unwrap_or(1) },
        },
    });
    let logical: Vec<_> = operator.chain(functions).collect();
    if !logical.is_empty() {
        location["logicalLocations"] = json!(logical);
    }
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [location],
        "partialFingerprints": { "latchwork/1": fingerprint(finding) },
        "properties": { "operator": finding.operator, "case": finding.case },
    });
    if has_baseline {
        let is_known = finding.accepted == Some(Acceptance::Baseline);
        result["baselineState"] = json!(if is_known { "unchanged" } else { "new" });
    }
    if let Some(acceptance) = &finding.accepted {
        let justification = match acceptance {
            Acceptance::Baseline => "known in the baseline",
            Acceptance::Exception { reason } => reason,
        };
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": justification }]);
    }
    result
}

/// Fingerprint of a finding, equal for the same finding in another build. Contains nothing that changes with a build.
fn fingerprint(finding: &Finding) -> String {
    let empty = String::new();
    let part = |text: &Option<String>| text.as_ref().unwrap_or(&empty).clone();
    // Findings without an operator can differ in nothing but the message, so their fingerprint contains the message.
    let what = if finding.operator.is_none() { finding.message.clone() } else { String::new() };
    let file = finding.place.file.clone();
    let parts = [finding.rule.to_owned(), part(&finding.operator), part(&finding.case), what, file];
    latchwork_core::model::ids::Hash::of(&[parts.join("\0").as_bytes()]).to_hex()
}

/// Percent-encodes a path as a relative URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.trim_start_matches("./").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte as char),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_escaped_as_uri_reference() {
        assert_eq!(uri("./build/a b#1.wasm"), "build/a%20b%231.wasm");
        assert_eq!(uri("/tmp/ü.wasm"), "/tmp/%C3%BC.wasm");
    }

    #[test]
    fn first_section_of_a_page_is_one_line() {
        let text = what_is_wrong(RULES[0].page);
        assert!(text.len() > 20 && !text.contains('\n') && !text.contains("What is wrong"), "{text}");
    }
}
