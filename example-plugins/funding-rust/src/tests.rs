//! Tests with the example page and CV, from the page to the reviewed letter.

use latchwork_guest::clock::Timestamp;
use latchwork_guest::testing::Host;
use latchwork_guest::{Code, Error, step};
use serde_json::{Value, json};

use crate::review::Verdict;
use crate::source::Source;
use crate::{align, draft, review, summarize};

fn host() -> Host {
    let read = |args: Value| {
        let path = args["path"].as_str().unwrap().replace("/data/", "../funding-outreach/data/");
        let text = std::fs::read_to_string(&path).map_err(|error| Error::invalid_input(error.to_string()))?;
        Ok(json!({ "text": text, "sha256": "as planned" }))
    };
    let noon = Timestamp { seconds: 1_795_262_400, nanoseconds: 0 };
    Host::new().tool("File.Read", read).now(noon)
}

fn source(path: &str) -> Source {
    Source { path: path.into(), sha256: "as planned".into() }
}

fn outreach() -> Result<(summarize::Professor, align::Alignment, draft::Draft, review::Review), Error> {
    let context = step::Context::default();
    let professor = summarize::run(summarize::Input { page: source("/data/professor.html") }, &context)?;
    let input = align::Input { professor: professor.clone(), cv: source("/data/cv.md") };
    let alignment = align::run(input, &context)?;
    let input = serde_json::from_value(json!({ "professor": professor, "alignment": alignment })).unwrap();
    let draft = draft::run(input, &context)?;
    let input = serde_json::from_value(json!({ "draft": draft })).unwrap();
    let review = review::run(input, &context)?;
    Ok((professor, alignment, draft, review))
}

#[test]
fn example_data_gives_a_ready_letter() {
    let host = host();
    let (professor, alignment, draft, review) = host.run(outreach).unwrap();
    assert_eq!(professor.name, "Prof. Dr. Ingrid Solheim");
    assert_eq!(professor.publications.len(), 5);
    assert_eq!(professor.openings.len(), 1);
    assert!(alignment.score >= 60, "{alignment:?}");
    assert_eq!(draft.drafted_on, "2026-11-21");
    assert!(draft.body.starts_with("Dear Professor Solheim,\n"), "{}", draft.body);
    assert!(draft.body.contains("autumn 2027"), "{}", draft.body);
    assert!(alignment.overlaps.iter().all(|overlap| !overlap.applicant_evidence.is_empty()));
    assert_eq!(review.verdict, Verdict::Ready, "{:?}\n{}", review.findings, review.body);
    assert_eq!(review.to, "ingrid.solheim@fjell.example.org");
    assert_eq!(host.calls().len(), 2);
}

#[test]
fn equal_files_give_equal_output() {
    let (_, _, _, first) = host().run(outreach).unwrap();
    let (_, _, _, second) = host().run(outreach).unwrap();
    assert_eq!(serde_json::to_string(&first).unwrap(), serde_json::to_string(&second).unwrap());
}

#[test]
fn changed_file_is_rejected() {
    let page = Source { path: "/data/professor.html".into(), sha256: "something else".into() };
    let error = host().run(|| summarize::run(summarize::Input { page }, &step::Context::default())).unwrap_err();
    assert_eq!(error.code(), Code::InvalidInput);
    assert!(error.message().contains("was changed"), "{error}");
}
