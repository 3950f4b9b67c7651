//! `Alignment.Build`: finds what an applicant and a professor have in common, with evidence.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::source::Source;
use crate::summarize::Professor;
use crate::text::share;

/// Minimum fraction of an interest's terms that a text must contain. With fewer terms, the interest does not
/// count as shared.
const SHARED: f64 = 0.5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub professor: Professor,
    /// The applicant's CV, in Markdown.
    pub cv: Source,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Alignment {
    pub applicant: Applicant,
    /// Share of the professor's interests that the CV covers, in percent from 0 to 100.
    pub score: u8,
    /// Shared interests, in descending order of strength.
    pub overlaps: Vec<Overlap>,
    /// Interests of the professor that the CV does not mention.
    pub gaps: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Applicant {
    pub name: String,
    /// Current position of the applicant.
    pub headline: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Overlap {
    /// The professor's interest.
    pub interest: String,
    /// Text of the professor about the interest: the title of a paper, or else a sentence of the page.
    pub professor_evidence: Option<String>,
    /// Statement of the CV about the interest.
    pub applicant_evidence: String,
    /// Share of the interest's terms in the statement, in percent from 0 to 100.
    pub strength: u8,
}

pub fn run(input: Input, _: &step::Context) -> Result<Alignment, Error> {
    build(&input.professor, &input.cv.read()?)
}

fn build(professor: &Professor, cv: &str) -> Result<Alignment, Error> {
    let (applicant, statements) = read(cv)?;
    if professor.interests.is_empty() {
        return Err(Error::missing_required_context(format!("the page of {} names no interests", professor.name)));
    }
    let mut overlaps = Vec::new();
    let mut gaps = Vec::new();
    let mut covered = 0.0;
    for interest in &professor.interests {
        let best = best(interest, statements.iter().map(String::as_str));
        covered += best.map_or(0.0, |(_, part)| part);
        match best {
            Some((statement, part)) if part >= SHARED => overlaps.push(Overlap {
                interest: interest.clone(),
                professor_evidence: evidence(professor, interest),
                applicant_evidence: statement.to_owned(),
                strength: percent(part),
            }),
            _ => gaps.push(interest.clone()),
        }
    }
    overlaps.sort_by_key(|overlap| std::cmp::Reverse(overlap.strength));
    let score = percent(covered / professor.interests.len() as f64);
    Ok(Alignment { applicant, score, overlaps, gaps })
}

/// Returns the applicant with name and headline, and the statements of the CV.
fn read(cv: &str) -> Result<(Applicant, Vec<String>), Error> {
    let mut name = None;
    let mut headline = String::new();
    let mut statements: Vec<String> = Vec::new();
    for line in cv.lines() {
        let text = line.trim().trim_start_matches(['-', '*', '+']).replace("**", "").replace('`', "");
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(heading) = text.strip_prefix('#') {
            if name.is_none() {
                name = Some(heading.trim_start_matches('#').trim().to_owned());
            }
        } else if headline.is_empty() && name.is_some() {
            text.clone_into(&mut headline);
        } else if line.starts_with("  ") && !statements.is_empty() {
            // An indented line continues the previous statement.
            let last = statements.len() - 1;
            statements[last] = format!("{} {text}", statements[last]);
        } else {
            statements.push(text.to_owned());
        }
    }
    let name = name
        .ok_or_else(|| Error::invalid_input("the CV does not begin with a heading with the name of the applicant"))?;
    Ok((Applicant { name, headline }, statements))
}

/// Returns the text with the largest share of the phrase's terms, and that share. If several texts have an
/// equal share, returns the first of them.
fn best<'a>(phrase: &str, texts: impl Iterator<Item = &'a str>) -> Option<(&'a str, f64)> {
    texts.map(|text| (text, share(phrase, text))).filter(|(_, part)| *part > 0.0).fold(
        None,
        |best: Option<(&str, f64)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        },
    )
}

fn evidence(professor: &Professor, interest: &str) -> Option<String> {
    let titles = professor.publications.iter().map(|publication| publication.title.as_str());
    let paper = best(interest, titles).filter(|(_, part)| *part >= SHARED);
    let found = paper.or_else(|| best(interest, professor.summary.iter().map(String::as_str)));
    found.map(|(text, _)| text.to_owned())
}

fn percent(part: f64) -> u8 {
    (part * 100.0).round().clamp(0.0, 100.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::Publication;

    fn professor() -> Professor {
        Professor {
            name: "Prof. Ada Lind".into(),
            affiliation: String::new(),
            email: None,
            interests: vec!["snow hydrology".into(), "medieval music".into(), "machine learning for forecasts".into()],
            summary: vec!["We forecast floods with machine learning.".into()],
            publications: vec![Publication { title: "Snow hydrology of small basins".into(), year: 2025 }],
            openings: vec![],
            source: Source { path: String::new(), sha256: String::new() },
        }
    }

    const CV: &str = "# Mira Example\n\nMSc student in hydrology\n\n## Work\n\n\
        - Built a model of snow\n  hydrology in the Alps.\n- Taught **machine learning** to beginners.\n- Likes tea.\n";

    #[test]
    fn overlaps_come_with_evidence_of_both_sides() {
        let alignment = build(&professor(), CV).unwrap();
        assert_eq!(alignment.applicant.name, "Mira Example");
        assert_eq!(alignment.applicant.headline, "MSc student in hydrology");
        let first = &alignment.overlaps[0];
        assert_eq!(first.professor_evidence.as_deref(), Some("Snow hydrology of small basins"));
        assert_eq!(first.applicant_evidence, "Built a model of snow hydrology in the Alps.");
        assert_eq!(alignment.overlaps[1].applicant_evidence, "Taught machine learning to beginners.");
        assert_eq!(alignment.gaps, ["medieval music"]);
        assert_eq!(alignment.score, 56);
    }

    #[test]
    fn cv_without_a_heading_is_rejected() {
        assert!(build(&professor(), "no heading").is_err());
    }
}
