//! Outlines the sections of a statute that a citation fixes by path and SHA-256.
//!
//! The library changes, the cited text does not: a text with another digest is a failure, so everything in the
//! outline follows from the citation.

mod sha;

use std::cell::RefCell;
use std::collections::HashMap;

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Citation {
    path: String,
    sha256: String,
    /// Only this section, such as `12a`. Without it, all sections.
    section: Option<String>,
}

#[derive(Deserialize)]
struct File {
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Section {
    number: String,
    title: String,
    words: usize,
    /// Sections that this section refers to, in the order of their first reference.
    refers_to: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Outline {
    sections: Vec<Section>,
    /// Most frequent long words of the sections with their numbers, at most five.
    terms: Vec<(String, usize)>,
}

thread_local! {
    /// Lower-case forms that this run has computed. A word of a statute occurs hundreds of times.
    static LOWER: RefCell<HashMap<String, String>> = RefCell::default();
}

fn lower(word: &str) -> String {
    LOWER.with_borrow_mut(|known| known.entry(word.to_owned()).or_insert_with(|| word.to_lowercase()).clone())
}

/// Splits the text at lines such as `§ 12a Notice of hearing`.
fn sections(text: &str) -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("§ ").map(|head| head.split_once(' ').unwrap_or((head, ""))) {
            Some((number, title)) => found.push((number.to_owned(), title.trim().to_owned(), String::new())),
            None => {
                if let Some((_, _, body)) = found.last_mut() {
                    body.push_str(line);
                    body.push('\n');
                }
            }
        }
    }
    found
}

fn outline(cited: Citation, _: &step::Context) -> Result<Outline, Error> {
    // Failure and digest mismatch are one failure: the message must not depend on what the library holds today.
    let lost = || Error::dependency_unavailable(format!("{} is not available as cited", cited.path));
    let file: File = tools::call("File.Read", &json!({ "path": cited.path })).map_err(|_| lost())?;
    if sha::sha256(file.text.as_bytes()) != cited.sha256 {
        log::warn!("the library has another text of {}", cited.path);
        return Err(lost());
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut chosen = Vec::new();
    for (number, title, body) in sections(&file.text) {
        if cited.section.as_ref().is_some_and(|only| *only != number) {
            continue;
        }
        let mut refers_to: Vec<String> = Vec::new();
        for reference in body.split('§').skip(1) {
            let to: String = reference.trim_start().chars().take_while(|c| c.is_alphanumeric()).collect();
            if !to.is_empty() && !refers_to.contains(&to) {
                refers_to.push(to);
            }
        }
        let words: Vec<&str> = body.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        for word in words.iter().filter(|word| word.chars().count() >= 6) {
            *counts.entry(lower(word)).or_default() += 1;
        }
        chosen.push(Section { number, title, words: words.len(), refers_to });
    }
    if chosen.is_empty() {
        return Err(Error::invalid_input("the cited text has no such section"));
    }
    // The map has no order: equal counts are ordered by the word.
    let mut terms: Vec<(String, usize)> = counts.into_iter().collect();
    terms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    terms.truncate(5);
    Ok(Outline { sections: chosen, terms })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Statute.Outline", outline)
            .describe("Outlines the sections of a statute that a citation fixes by its SHA-256.")
            .determinism(Determinism::Pure),
    ],
}
