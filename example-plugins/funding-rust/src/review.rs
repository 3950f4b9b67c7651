//! `Email.Review`: reviews a draft, corrects it where possible, and reports findings.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::text::{count_words, sentences};

/// Maximum number of words in a sentence. A longer sentence is hard to read.
const SENTENCE_WORDS: usize = 40;
/// Maximum length of a subject in characters. Mail lists truncate a longer subject.
const SUBJECT_CHARS: usize = 78;
/// Phrases that mail filters and readers associate with advertising.
const SPAM: [&str; 12] = [
    "act now",
    "amazing offer",
    "buy now",
    "click here",
    "free money",
    "guarantee",
    "once in a lifetime",
    "risk-free",
    "urgent",
    "winner",
    "100%",
    "limited time",
];
/// Intensifiers that add no meaning. The review removes them from the draft.
const FILLERS: [&str; 6] = ["very ", "really ", "extremely ", "truly ", "incredibly ", "absolutely "];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub draft: Draft,
    /// Minimum number of words in the body. Fewer words are a finding.
    #[serde(default = "least")]
    pub words_min: usize,
    /// Maximum number of words in the body. More words are a finding.
    #[serde(default = "most")]
    pub words_max: usize,
}

fn least() -> usize {
    60
}

fn most() -> usize {
    250
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Review {
    pub verdict: Verdict,
    pub findings: Vec<Finding>,
    pub to: String,
    /// Subject with corrections applied.
    pub subject: String,
    /// Body with corrections applied.
    pub body: String,
    pub words: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The draft has no open finding.
    Ready,
    /// A person must resolve the findings that are not fixed.
    NeedsWork,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Rule of the finding: `length`, `tone`, `greeting`, ….
    pub rule: &'static str,
    pub message: String,
    /// True if the returned draft no longer has the problem.
    pub fixed: bool,
}

pub fn run(input: Input, _: &step::Context) -> Result<Review, Error> {
    let mut findings = Vec::new();
    let subject = improve_subject(&input.draft.subject, &mut findings);
    let body = improve_body(&input.draft.body, &mut findings);
    judge(&input, &body, &mut findings);
    let verdict = if findings.iter().all(|finding| finding.fixed) { Verdict::Ready } else { Verdict::NeedsWork };
    Ok(Review { verdict, findings, to: input.draft.to, subject, words: count_words(&body), body })
}

fn note(findings: &mut Vec<Finding>, rule: &'static str, fixed: bool, message: impl Into<String>) {
    findings.push(Finding { rule, message: message.into(), fixed });
}

fn improve_subject(subject: &str, findings: &mut Vec<Finding>) -> String {
    let mut better = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    if better.contains('!') {
        better = better.replace('!', "");
        note(findings, "subject", true, "exclamation marks taken out");
    }
    if better.chars().count() > SUBJECT_CHARS {
        let cut: String = better.chars().take(SUBJECT_CHARS).collect();
        better =
            cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole).trim_end_matches([',', ':', ';']).to_owned();
        note(findings, "subject", true, format!("cut to {SUBJECT_CHARS} characters"));
    }
    if better.is_empty() {
        note(findings, "subject", false, "there is none");
    }
    better
}

fn improve_body(body: &str, findings: &mut Vec<Finding>) -> String {
    let mut better = body.replace("\r\n", "\n");
    let spaced: Vec<String> =
        better.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let spaced = spaced.join("\n").trim_matches('\n').to_owned() + "\n";
    if spaced != better {
        note(findings, "spacing", true, "spaces tidied");
        better = spaced;
    }
    if better.contains('!') {
        better = better.replace("!!", "!").replace('!', ".");
        note(findings, "tone", true, "exclamation marks turned into full stops");
    }
    for filler in FILLERS {
        if better.contains(filler) {
            better = better.replace(filler, "");
            note(findings, "tone", true, format!("`{}` taken out", filler.trim()));
        }
    }
    better
}

/// Reports the problems that only a person can correct.
fn judge(input: &Input, body: &str, findings: &mut Vec<Finding>) {
    let words = count_words(body);
    if words < input.words_min {
        note(findings, "length", false, format!("{words} words; at least {} say something", input.words_min));
    }
    if words > input.words_max {
        note(findings, "length", false, format!("{words} words; more than {} are not read", input.words_max));
    }
    let first = body.lines().next().unwrap_or_default();
    if !["Dear ", "Hello ", "Good "].iter().any(|greeting| first.starts_with(greeting)) || !first.ends_with(',') {
        note(findings, "greeting", false, format!("it begins with {first:?}, not with a greeting"));
    }
    if !["regards,", "sincerely,", "wishes,"].iter().any(|closing| body.to_lowercase().contains(closing)) {
        note(findings, "closing", false, "it ends without a closing line");
    }
    if !body.contains('?') {
        note(findings, "ask", false, "it asks for nothing");
    }
    for mark in ["{{", "}}", "[name]", "[your ", "lorem ipsum"] {
        if body.to_lowercase().contains(&mark.to_lowercase()) {
            note(findings, "placeholder", false, format!("`{mark}` is left"));
        }
    }
    let lower = format!("{} {}", input.draft.subject, body).to_lowercase();
    for word in SPAM.iter().filter(|word| lower.contains(**word)) {
        note(findings, "spam", false, format!("`{word}` sounds like advertising"));
    }
    for paragraph in body.split("\n\n") {
        for sentence in sentences(paragraph).iter().filter(|sentence| count_words(sentence) > SENTENCE_WORDS) {
            let start: Vec<&str> = sentence.split_whitespace().take(6).collect();
            note(findings, "sentence", false, format!("\"{} …\" has {} words", start.join(" "), count_words(sentence)));
        }
    }
    let shouted = |word: &&str| word.len() > 5 && word.chars().all(|c| c.is_ascii_uppercase());
    for word in body.split(|c: char| !c.is_alphanumeric()).filter(shouted) {
        note(findings, "tone", false, format!("{word} is shouted"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(subject: &str, body: &str) -> Review {
        let draft = Draft {
            to: "ada@example.org".into(),
            subject: subject.into(),
            body: body.into(),
            drafted_on: "2026-11-21".into(),
            words: 0,
        };
        run(Input { draft, words_min: 5, words_max: 250 }, &step::Context::default()).unwrap()
    }

    const GOOD: &str = "Dear Professor Lind,\n\nmay I ask you about your work on snow?\n\nKind regards,\nMira\n";

    #[test]
    fn a_good_draft_stays_as_it_is() {
        let review = review("Inquiry", GOOD);
        assert_eq!((review.verdict, review.findings), (Verdict::Ready, vec![]));
        assert_eq!(review.body, GOOD);
    }

    #[test]
    fn fixable_findings_are_fixed() {
        let review = review("Hello!!", &GOOD.replace("may I", "may  I really").replace("snow?", "snow? Great!"));
        assert_eq!(review.verdict, Verdict::Ready);
        assert_eq!(review.subject, "Hello");
        assert_eq!(review.body, GOOD.replace("snow?", "snow? Great."));
        let rules: Vec<_> = review.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["subject", "spacing", "tone", "tone"]);
    }

    #[test]
    fn unfixable_findings_are_reported() {
        for (rule, body) in [
            ("greeting", GOOD.replace("Dear Professor Lind,", "Hi")),
            ("closing", GOOD.replace("Kind regards,", "Bye")),
            ("ask", GOOD.replace('?', ".")),
            ("placeholder", GOOD.replace("Lind", "{{name}}")),
            ("spam", GOOD.replace("snow", "snow, guaranteed")),
            ("length", "Dear A,\n\nhow?\n\nRegards,\n".into()),
            ("sentence", GOOD.replace("snow", &"snow and ".repeat(20))),
            ("tone", GOOD.replace("snow", "GLACIERS")),
        ] {
            let review = review("Inquiry", &body);
            assert_eq!(review.verdict, Verdict::NeedsWork, "{rule}");
            assert!(review.findings.iter().any(|finding| finding.rule == rule && !finding.fixed), "{rule}");
        }
    }
}
