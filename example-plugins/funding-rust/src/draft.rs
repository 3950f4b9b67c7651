//! `Email.GenerateDraft`: writes a letter from a professor's summary and an alignment.

use latchwork_guest::{Error, clock, events, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::align::{Alignment, Overlap};
use crate::summarize::Professor;
use crate::text::count_words;

/// Maximum number of overlaps in a letter. The recipient spends about a minute on a letter.
const OVERLAPS: usize = 2;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub professor: Professor,
    pub alignment: Alignment,
    /// Position that the letter asks for: `a doctoral position`.
    #[serde(default = "position")]
    pub position: String,
}

fn position() -> String {
    "a doctoral position".into()
}

/// A mail that is not sent yet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Draft {
    pub to: String,
    pub subject: String,
    pub body: String,
    /// Date of writing: `2026-11-21`.
    pub drafted_on: String,
    pub words: usize,
}

pub fn run(input: Input, _: &step::Context) -> Result<Draft, Error> {
    let (year, month, day) = clock::now().date();
    let to = input.professor.email.clone().ok_or_else(|| {
        Error::missing_required_context(format!("the page of {} gives no mail address", input.professor.name))
    })?;
    if input.alignment.overlaps.is_empty() {
        return Err(Error::missing_required_context(format!(
            "the CV has nothing in common with the interests of {}: there is nothing to write about",
            input.professor.name
        )));
    }
    let body = letter(&input, intake(year, month));
    let draft = Draft {
        to,
        subject: format!("Inquiry about {}: {}", input.position, input.alignment.overlaps[0].interest),
        words: count_words(&body),
        body,
        drafted_on: format!("{year:04}-{month:02}-{day:02}"),
    };
    events::emit("draft-ready", &json!({ "to": draft.to, "words": draft.words }))?;
    Ok(draft)
}

/// Returns the year of the next autumn with an open application deadline. From April on, the deadline for this
/// autumn is over.
fn intake(year: i64, month: u32) -> i64 {
    if month <= 3 { year } else { year + 1 }
}

fn letter(input: &Input, year: i64) -> String {
    let Input { professor, alignment, position } = input;
    let mut parts = vec![format!("Dear Professor {},", surname(&professor.name))];
    let interests: Vec<&str> =
        alignment.overlaps.iter().take(OVERLAPS).map(|overlap| overlap.interest.as_str()).collect();
    let headline = alignment.applicant.headline.trim_end_matches('.');
    parts.push(format!(
        "my name is {}, {}. I am writing to ask about {position} in your group from autumn {year}, because of your work on {}.",
        alignment.applicant.name,
        lower_article(headline),
        interests.join(" and "),
    ));
    parts.extend(alignment.overlaps.iter().take(OVERLAPS).enumerate().map(|(at, overlap)| paragraph(overlap, at)));
    if let Some(opening) = professor.openings.first() {
        parts.push(format!("On your page I read: \"{}\" I would be glad to be considered for it.", opening.trim()));
    }
    parts.push(
        "Would you be open to a short call in the coming weeks? I can send my CV, code and references at any time."
            .into(),
    );
    parts.push(format!("Kind regards,\n{}", alignment.applicant.name));
    parts.join("\n\n") + "\n"
}

fn paragraph(overlap: &Overlap, at: usize) -> String {
    let said = match &overlap.professor_evidence {
        Some(evidence) if evidence.ends_with('.') => format!("On {} your page says: \"{evidence}\"", overlap.interest),
        Some(title) => format!("I read your paper \"{title}\" with interest."),
        None => format!("Your interest in {} caught my attention.", overlap.interest),
    };
    let link = if at == 0 { "It is close to what I have done:" } else { "Here, too, I bring something along:" };
    format!("{said} {link} {}", first_person(&overlap.applicant_evidence))
}

/// Turns a line of a CV into a sentence: `Built a model.` becomes `I built a model.`
fn first_person(statement: &str) -> String {
    let statement = statement.trim().trim_end_matches('.');
    let first = statement.split_whitespace().next().unwrap_or_default().to_lowercase();
    const IRREGULAR: [&str; 12] =
        ["built", "wrote", "led", "ran", "taught", "made", "gave", "won", "held", "spent", "began", "took"];
    if first.ends_with("ed") || IRREGULAR.contains(&first.as_str()) {
        let rest = &statement[first.len()..];
        format!("I {first}{rest}.")
    } else {
        format!("{statement}.")
    }
}

/// Adds an article: `MSc student in …` becomes `an MSc student in …`.
fn lower_article(headline: &str) -> String {
    let first = headline.split_whitespace().next().unwrap_or_default();
    if ["a", "an", "the"].contains(&first.to_lowercase().as_str()) {
        return headline.to_owned();
    }
    // Abbreviations such as MSc are pronounced letter by letter.
    let spelled = first.chars().filter(|c| c.is_uppercase()).count() > 1;
    let vowel = if spelled { "AEFHILMNORSX" } else { "AEIOaeiou" };
    let article = if first.starts_with(|c| vowel.contains(c)) { "an" } else { "a" };
    format!("{article} {headline}")
}

/// Returns the last word of a name without the degrees after a comma.
pub fn surname(name: &str) -> &str {
    let name = name.split(',').next().unwrap_or(name);
    name.split_whitespace().next_back().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surnames_sentences_and_articles() {
        assert_eq!(surname("Prof. Dr. Ada Lind, FRS"), "Lind");
        assert_eq!(first_person("Built a model of snow."), "I built a model of snow.");
        assert_eq!(first_person("Calibrated sensors"), "I calibrated sensors.");
        assert_eq!(first_person("MSc in hydrology"), "MSc in hydrology.");
        assert_eq!(lower_article("MSc student"), "an MSc student");
        assert_eq!(lower_article("graduate student"), "a graduate student");
    }

    #[test]
    fn intake_is_the_next_autumn_with_an_open_deadline() {
        assert_eq!(intake(2026, 2), 2026);
        assert_eq!(intake(2026, 11), 2027);
    }
}
