//! `Professor.Summarize`: extracts name, interests, publications and open positions from a professor's page.

use std::collections::BTreeMap;

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::html::{self, Block};
use crate::source::Source;
use crate::text::{sentences, share, terms};

/// Number of sentences in a summary.
const SENTENCES: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The professor's page.
    pub page: Source,
}

/// Facts about a professor from the professor's page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Professor {
    pub name: String,
    /// Position and institution.
    pub affiliation: String,
    pub email: Option<String>,
    pub interests: Vec<String>,
    /// Most informative sentences of the page about the work.
    pub summary: Vec<String>,
    /// Publications, newest first.
    pub publications: Vec<Publication>,
    /// Sentences about open positions.
    pub openings: Vec<String>,
    /// The page.
    pub source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Publication {
    pub title: String,
    pub year: u16,
}

pub fn run(input: Input, _: &step::Context) -> Result<Professor, Error> {
    let professor = read(&input.page.read()?, input.page)?;
    log::info!("{}: {} publications", professor.name, professor.publications.len());
    Ok(professor)
}

fn read(html: &str, source: Source) -> Result<Professor, Error> {
    let page = html::parse(html);
    let sections = Sections::of(&page.blocks);
    let name = sections.title.clone().ok_or_else(|| {
        Error::invalid_input(format!("{} is not a professor's page: it has no main heading with a name", source.path))
    })?;
    let interests = sections.about(&["interest", "topic"]).flat_map(|text| split_list(text)).collect::<Vec<_>>();
    let mut publications: Vec<_> =
        sections.about(&["publication", "paper"]).filter_map(|text| publication(text)).collect();
    publications.sort_by_key(|publication| std::cmp::Reverse(publication.year));
    let prose: Vec<String> = sections.prose().flat_map(|text| sentences(text)).collect();
    let openings = prose.iter().filter(|sentence| is_opening(sentence)).cloned().collect();
    Ok(Professor {
        affiliation: sections.lead.clone().unwrap_or_default(),
        email: page.mailto.into_iter().next(),
        summary: most_telling(&prose, &interests),
        name,
        interests,
        publications,
        openings,
        source,
    })
}

/// The blocks of a page under their headings.
struct Sections {
    title: Option<String>,
    /// First text below the title.
    lead: Option<String>,
    /// Headings in lower case, each with its texts.
    parts: Vec<(String, Vec<String>)>,
}

impl Sections {
    fn of(blocks: &[Block]) -> Self {
        let mut sections = Self { title: None, lead: None, parts: Vec::new() };
        for block in blocks {
            match block {
                Block::Heading { level: 1, text } if sections.title.is_none() => {
                    sections.title = Some(text.clone());
                    sections.parts.push((String::new(), Vec::new()));
                }
                Block::Heading { text, .. } => sections.parts.push((text.to_lowercase(), Vec::new())),
                Block::Text(text) if sections.title.is_some() && sections.lead.is_none() => {
                    sections.lead = Some(text.clone());
                }
                Block::Text(text) => {
                    if let Some((_, texts)) = sections.parts.last_mut() {
                        texts.push(text.clone());
                    }
                }
            }
        }
        sections
    }

    fn about<'a>(&'a self, words: &'a [&str]) -> impl Iterator<Item = &'a String> {
        self.parts
            .iter()
            .filter(|(heading, _)| words.iter().any(|word| heading.contains(word)))
            .flat_map(|(_, texts)| texts)
    }

    /// Returns the texts that consist of whole sentences. Lists of papers and keywords are excluded.
    fn prose(&self) -> impl Iterator<Item = &String> {
        self.parts
            .iter()
            .filter(|(heading, _)| !heading.contains("publication") && !heading.contains("contact"))
            .flat_map(|(_, texts)| texts)
            .filter(|text| text.ends_with(['.', '!', '?']) && terms(text).len() >= 5)
    }
}

/// Splits a list of interests: `snow hydrology; data assimilation`. A text without a separator is one entry.
fn split_list(text: &str) -> Vec<String> {
    let separator = if text.contains(';') { ';' } else { ',' };
    text.split(separator)
        .map(|part| part.trim().trim_end_matches('.').to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

/// Parses a citation: `A. Lind and B. Roy (2025). Title. Journal.`
fn publication(text: &str) -> Option<Publication> {
    let (open, year) = text.match_indices('(').find_map(|(at, _)| {
        let inside = text[at + 1..].split(')').next()?;
        Some((at, inside.parse::<u16>().ok().filter(|year| (1900..2100).contains(year))?))
    })?;
    let after = text[open..].split_once(')')?.1.trim_start_matches(['.', ',', ' ']);
    // The title is the first sentence. A title that is a question keeps its question mark.
    let title = sentences(after).into_iter().next()?;
    let title = title.trim_matches(['"', '\u{201c}', '\u{201d}', '.']);
    (!title.is_empty()).then(|| Publication { title: title.to_owned(), year })
}

fn is_opening(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["position", "opening", "looking for", "recruit", "applications", "vacanc"].iter().any(|word| lower.contains(word))
        && ["phd", "doctoral", "student", "postdoc", "researcher"].iter().any(|word| lower.contains(word))
}

/// Returns the most informative sentences, in the order of the text. An informative sentence shares many terms with
/// the other sentences and with the interests. Sentences about open positions are excluded.
fn most_telling(prose: &[String], interests: &[String]) -> Vec<String> {
    let mut frequency: BTreeMap<String, usize> = BTreeMap::new();
    for term in prose.iter().flat_map(|sentence| terms(sentence)) {
        *frequency.entry(term).or_default() += 1;
    }
    let score = |sentence: &str| {
        let words = terms(sentence);
        let common: usize = words.iter().filter_map(|word| frequency.get(word)).filter(|count| **count > 1).sum();
        let interest: f64 = interests.iter().map(|interest| share(interest, sentence)).sum();
        common as f64 / words.len().max(1) as f64 + interest
    };
    let mut ranked: Vec<(usize, f64)> = prose
        .iter()
        .enumerate()
        .filter(|(_, sentence)| !is_opening(sentence))
        .map(|(at, sentence)| (at, score(sentence)))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked.truncate(SENTENCES);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(at, _)| prose[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source { path: "/data/p.html".into(), sha256: String::new() }
    }

    #[test]
    fn page_becomes_a_professor() {
        let page = "<h1>Prof. Dr. Ada Lind</h1><p>Chair of Snow, North University</p>\
            <p>My group studies how snow melts in mountain catchments. The weather is often cold, and coffee is good there.</p>\
            <h2>Research interests</h2><ul><li>snow hydrology</li><li>mountain catchments</li></ul>\
            <h2>Publications</h2><p>A. Lind (2019). Old snow. J. Snow.</p><p>A. Lind, B. Roy (2025). Melt in catchments. J. Snow 3.</p>\
            <h2>Join us</h2><p>We have an open PhD position on snow melt from autumn on.</p>\
            <a href='mailto:ada@north.example.org'>mail</a>";
        let professor = read(page, source()).unwrap();
        assert_eq!(professor.name, "Prof. Dr. Ada Lind");
        assert_eq!(professor.affiliation, "Chair of Snow, North University");
        assert_eq!(professor.email.as_deref(), Some("ada@north.example.org"));
        assert_eq!(professor.interests, ["snow hydrology", "mountain catchments"]);
        let years: Vec<_> = professor.publications.iter().map(|p| (p.title.as_str(), p.year)).collect();
        assert_eq!(years, [("Melt in catchments", 2025), ("Old snow", 2019)]);
        assert_eq!(professor.openings.len(), 1);
        assert_eq!(professor.summary[0], "My group studies how snow melts in mountain catchments.");
    }

    #[test]
    fn page_without_a_name_is_rejected() {
        assert_eq!(read("<p>404</p>", source()).unwrap_err().code(), latchwork_guest::Code::InvalidInput);
    }

    #[test]
    fn common_citation_styles_are_parsed() {
        let title = |text| publication(text).map(|found| (found.title, found.year));
        assert_eq!(title("Lind, A. (2024). \"Snow.\" In: Ice."), Some(("Snow".into(), 2024)));
        assert_eq!(title("Lind, A. (ed.) (2021) Snow"), Some(("Snow".into(), 2021)));
        assert_eq!(title("More on my profile."), None);
    }
}
