//! `Charter.Excerpt`: quotes one section of a town charter that is kept as a text file.

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most words of a quotation.
const WORDS_MAX: usize = 400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Guest path of the charter: `/charters/ely.txt`.
    path: String,
    /// Number of the section: `12` or `12a`.
    section: String,
    /// SHA-256 of the edition that is quoted, in hexadecimal. Without it, the edition in the folder is quoted.
    #[serde(default)]
    edition: Option<String>,
}

/// Answer of `File.Read`.
#[derive(Deserialize)]
struct File {
    text: String,
    sha256: String,
}

#[derive(Serialize, JsonSchema)]
struct Excerpt {
    section: String,
    heading: String,
    text: String,
    words: usize,
    /// True if words at the end of the section are left out.
    shortened: bool,
}

fn excerpt(input: Input, _: &step::Context) -> Result<Excerpt, Error> {
    let number = input.section.trim();
    if number.is_empty() || !number.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(Error::invalid_input("section: letters and digits only"));
    }
    if let Some(edition) = &input.edition {
        if edition.len() != 64 || !edition.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(Error::invalid_input("edition: 64 hexadecimal digits"));
        }
    }
    let file: File = tools::call("File.Read", &json!({ "path": input.path }))?;
    if let Some(edition) = &input.edition {
        if !edition.eq_ignore_ascii_case(&file.sha256) {
            return Err(Error::policy_denied("the file is another edition of the charter"));
        }
    }
    let (heading, body) = section(&file.text, number)
        .ok_or_else(|| Error::missing_required_context(format!("the charter has no section {number}")))?;
    let words: Vec<&str> = body.split_whitespace().collect();
    let kept = words.len().min(WORDS_MAX);
    Ok(Excerpt {
        section: number.to_owned(),
        heading,
        text: words[..kept].join(" "),
        words: kept,
        shortened: kept < words.len(),
    })
}

/// Returns the heading and the body of a section. A section starts with a line such as `§ 12 Of the market`.
fn section(text: &str, number: &str) -> Option<(String, String)> {
    let mut lines = text.lines();
    let heading = lines.find_map(|line| {
        let (own, heading) = title(line)?;
        own.eq_ignore_ascii_case(number).then(|| heading.to_owned())
    })?;
    let body: Vec<&str> = lines.take_while(|line| title(line).is_none()).collect();
    Some((heading, body.join("\n")))
}

/// Splits the first line of a section into its number and its heading.
fn title(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim().strip_prefix('§')?.trim_start();
    let (number, heading) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((number, heading.trim()))
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Charter.Excerpt", excerpt)
            .describe("Quotes one section of a charter.")
            .determinism(Determinism::Pure)
            .outcome("Review.Excerpt", "draft"),
    ],
}
