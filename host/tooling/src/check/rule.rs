//! The registry of rules.

use serde::Serialize;

/// Kind of check that finds violations of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// The component is inspected without running its steps. D001 to D049.
    Static,
    /// Steps run with cases, under different hosts. D050 to D099.
    Dynamic,
    /// Tools run against stubs of the servers and directories they may reach. D100 to D149.
    Tools,
    /// Steps of real jobs run again. D150 to D199.
    History,
}

impl RuleKind {
    /// All kinds, in order.
    pub const ALL: [RuleKind; 4] = [RuleKind::Static, RuleKind::Dynamic, RuleKind::Tools, RuleKind::History];

    /// Name of the kind in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleKind::Static => "static",
            RuleKind::Dynamic => "dynamic",
            RuleKind::Tools => "tools",
            RuleKind::History => "history",
        }
    }
}

/// Severity of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A violation makes the check fail.
    Violation,
    /// A violation is reported but does not make the check fail.
    Warning,
}

impl Severity {
    /// Name of the severity in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Violation => "violation",
            Severity::Warning => "warning",
        }
    }
}

/// A rule. The id of a removed rule is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Id of the rule, such as `D001`.
    pub id: &'static str,
    /// Severity of a violation.
    pub severity: Severity,
    /// Page of the rule, in Markdown: the violation, the reason for the rule, bad and good code in several
    /// languages.
    pub page: &'static str,
}

impl Rule {
    /// Short title of the rule, from the heading of its page. The title describes a violation of the rule.
    pub fn title(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }

    /// Advice about a violation, as one line: the section "What to do" of the page.
    pub fn advice(&self) -> String {
        let (_, section) = self.page.split_once("\n## What to do\n").unwrap_or_default();
        section.split("\n## ").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Kind of check, derived from the number of the rule.
    pub fn kind(&self) -> RuleKind {
        match self.id[1..].parse() {
            Ok(0..50) => RuleKind::Static,
            Ok(50..100) => RuleKind::Dynamic,
            Ok(100..150) => RuleKind::Tools,
            _ => RuleKind::History,
        }
    }
}

macro_rules! rules {
    ($($id:literal $severity:ident,)*) => {
        /// Every rule, sorted by id.
        pub const RULES: &[Rule] = &[
            $(Rule {
                id: $id,
                severity: Severity::$severity,
                page: include_str!(concat!("rules/", $id, ".md")),
            },)*
        ];
    };
}

rules! {
    "D001" Violation,
    "D002" Violation,
    "D003" Violation,
    "D004" Violation,
    "D005" Violation,
    "D006" Violation,
    "D007" Violation,
    "D008" Violation,
    "D009" Violation,
    "D010" Violation,
    "D011" Violation,
    "D012" Violation,
    "D013" Violation,
    "D014" Violation,
    "D015" Warning,
    "D016" Warning,
    "D017" Violation,
    "D018" Violation,
    "D019" Warning,
    "D020" Violation,
    "D050" Warning,
    "D051" Warning,
    "D052" Violation,
    "D053" Warning,
    "D054" Violation,
    "D055" Violation,
    "D056" Violation,
    "D057" Violation,
    "D058" Violation,
    "D059" Violation,
    "D060" Violation,
    "D061" Violation,
    "D062" Violation,
    "D063" Violation,
    "D064" Violation,
    "D065" Violation,
    "D066" Violation,
    "D067" Warning,
    "D068" Warning,
    "D069" Violation,
    "D070" Violation,
    "D071" Warning,
    "D072" Violation,
    "D073" Warning,
    "D074" Violation,
    "D075" Violation,
    "D076" Warning,
    "D077" Violation,
    "D078" Violation,
    "D079" Warning,
    "D080" Warning,
    "D081" Violation,
    "D082" Warning,
    "D083" Warning,
    "D100" Violation,
    "D101" Violation,
    "D102" Violation,
    "D103" Violation,
    "D104" Violation,
    "D105" Violation,
    "D106" Violation,
    "D107" Warning,
    "D108" Violation,
    "D109" Violation,
    "D110" Violation,
    "D111" Violation,
    "D112" Violation,
    "D113" Violation,
    "D114" Violation,
    "D117" Violation,
    "D118" Violation,
    "D119" Violation,
    "D120" Warning,
    "D121" Warning,
    "D122" Violation,
    "D123" Violation,
    "D124" Warning,
    "D150" Violation,
    "D151" Violation,
    "D152" Violation,
    "D153" Violation,
    "D154" Warning,
    "D155" Warning,
}

/// Returns the rule with this id, ignoring ASCII case.
pub fn find_rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the languages of the fenced code in a section of a page.
    fn languages(page: &str, section: &str) -> BTreeSet<String> {
        let (_, body) = page.split_once(&format!("\n## {section}\n")).unwrap_or_default();
        let body = body.split("\n## ").next().unwrap_or_default();
        // Keeps the opening fences. Every second fence closes a block.
        let fences = body.lines().filter_map(|line| line.strip_prefix("```"));
        fences.step_by(2).map(str::to_owned).collect()
    }

    /// I60: every rule must have a page with bad and good code in at least two languages. The next test also holds I60.
    #[test]
    fn every_rule_has_a_page_with_bad_and_good_code_in_two_languages() {
        for rule in RULES {
            assert!(rule.page.starts_with(&format!("# {}: ", rule.id)), "{}: the heading", rule.id);
            assert!(!rule.title().ends_with('.') && rule.title().len() < 90, "{}: {}", rule.id, rule.title());
            for section in ["What is wrong", "Why it matters", "Bad", "Good", "What to do"] {
                let (_, body) = rule
                    .page
                    .split_once(&format!("\n## {section}\n\n"))
                    .unwrap_or_else(|| panic!("{}: no {section:?}", rule.id));
                let body = body.split("\n## ").next().unwrap();
                assert!(body.trim().len() > 10, "{}: {section:?} says nothing", rule.id);
            }
            let known = ["rust", "js", "python", "c", "go"].map(str::to_owned);
            for section in ["Bad", "Good"] {
                let spoken = languages(rule.page, section);
                let spoken = spoken.iter().filter(|language| known.contains(language)).count();
                assert!(spoken >= 2, "{}: {section:?} has code in {spoken} languages", rule.id);
            }
        }
    }

    #[test]
    fn rule_pages_and_ids_match_one_to_one_in_order() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/check/rules");
        let files: BTreeSet<String> =
            std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        let pages: BTreeSet<String> = RULES.iter().map(|rule| format!("{}.md", rule.id)).collect();
        assert_eq!(files, pages);
        assert!(RULES.is_sorted_by(|a, b| a.id < b.id), "in order, each once");
        for rule in RULES {
            assert!(rule.id.len() == 4 && rule.id[1..].parse::<u32>().is_ok_and(|n| n > 0 && n < 200), "{}", rule.id);
            assert_eq!(latchwork_core::model::error_docs::find(rule.id), None, "{} has one page", rule.id);
        }
    }
}
