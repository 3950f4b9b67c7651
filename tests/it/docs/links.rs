//! Links and tables of the pages. Each linked file and heading exists, and the summary lists each page of `docs` once.
//! A table that repeats a list from the sources is complete.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::checkout::{root, tracked_files};

/// List of all pages below `docs`, in the format of mdBook.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Texts of pages, by path relative to the root.
type Pages = BTreeMap<String, String>;

fn tracked_pages() -> Pages {
    let page = |path: String| Some((path.clone(), std::fs::read_to_string(root().join(path)).ok()?));
    let pages: Pages = tracked_files().into_iter().filter(|path| path.ends_with(".md")).filter_map(page).collect();
    assert!(pages.len() > 100, "the pages are there");
    pages
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the lines of a page outside fenced blocks, with their numbers.
fn unfenced_lines(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let ticks = &trimmed[..trimmed.len() - trimmed.trim_start_matches('`').len()];
        match fence {
            Some(open) if ticks.len() >= open.len() && ticks.len() == trimmed.len() => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => lines.push((number + 1, line)),
        }
    }
    lines
}

/// Returns the targets of the links of a page with their line numbers: inline links, reference definitions, and the
/// attributes `href` and `src`. Text between backquotes contains no links.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in unfenced_lines(text) {
        let line = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        let after = |mark: &str| line.match_indices(mark).map(|(at, _)| at + mark.len()).collect::<Vec<_>>();
        let inline = after("](").into_iter().map(|at| line[at..].split([')', ' ']).next());
        let attributes = ["href=\"", "src=\""].into_iter().flat_map(&after).map(|at| line[at..].split('"').next());
        let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        let definition = definition.map(|(_, target)| target.split_whitespace().next());
        let targets = inline.chain(attributes).chain(definition).flatten();
        found.extend(targets.filter(|target| !target.is_empty()).map(|target| (number, target.to_owned())));
    }
    found
}

/// Returns the anchors of a page by GitHub's rules: one for each heading, and each anchor that the page sets with `id`
/// or `name`.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in unfenced_lines(text) {
        if let Some(heading) = heading(line) {
            let anchor = anchor_of(heading);
            let earlier = times.entry(anchor.clone()).or_default();
            anchors.insert(if *earlier == 0 { anchor } else { format!("{anchor}-{earlier}") });
            *earlier += 1;
        }
        for mark in ["<a id=\"", "<a name=\""] {
            let ids = line.split(mark).skip(1).filter_map(|rest| rest.split('"').next());
            anchors.extend(ids.map(str::to_owned));
        }
    }
    anchors
}

/// Returns the text of a heading line.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

/// Returns the anchor of a heading: the text in lower case, without punctuation, with hyphens for spaces. A link is
/// replaced by its text.
fn anchor_of(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    let kept = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then_some(c),
    };
    text.to_lowercase().chars().filter_map(kept).collect()
}

/// Returns the path, relative to the root, of a target that a page names. Returns `None` if the target is outside of
/// the project.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the relative links that lead to no file, or to no heading of a page.
fn broken_links(pages: &Pages, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|(path, text)| (path.as_str(), anchors(text))).collect();
    let mut broken = Vec::new();
    for (page, text) in pages {
        for (line, link) in links(text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if target.is_empty() { Some(page.clone()) } else { resolve(page, target) };
            let Some(path) = path.filter(|path| exists(path)) else {
                broken.push(format!("{page}:{line}: no file {link}"));
                continue;
            };
            let is_there = |known: &BTreeSet<String>| anchor.is_empty() || known.contains(anchor);
            if !anchors.get(path.as_str()).is_none_or(is_there) {
                broken.push(format!("{page}:{line}: no heading {link}"));
            }
        }
    }
    broken
}

/// Returns the pages below `docs` that the summary does not list exactly once, and the entries of the summary without a
/// page.
fn summary_problems(pages: &Pages) -> Vec<String> {
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    for (_, target) in links(&pages[SUMMARY]) {
        *listed.entry(resolve(SUMMARY, &target).unwrap_or(target)).or_default() += 1;
    }
    let is_listed = |path: &&String| path.starts_with("docs/") && *path != SUMMARY;
    let written: BTreeSet<&String> = pages.keys().filter(is_listed).collect();
    let unlisted = written.iter().filter(|path| !listed.contains_key(**path)).map(|path| format!("{path} is unlisted"));
    let twice = listed.iter().filter(|(_, times)| **times > 1).map(|(path, _)| format!("{path} is listed twice"));
    let missing = listed.keys().filter(|path| !written.contains(path)).map(|path| format!("{path} does not exist"));
    unlisted.chain(twice).chain(missing).collect()
}

fn assert_none(rule: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let files = tracked_files();
    let folders: BTreeSet<&str> =
        files.iter().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at])).collect();
    let exists = |path: &str| path.is_empty() || files.contains(path) || folders.contains(path);
    assert_none("these links are broken", broken_links(&tracked_pages(), exists));
}

#[test]
fn summary_lists_every_page_once() {
    let pages = tracked_pages();
    assert!(links(&pages[SUMMARY]).len() > 40, "the summary is there");
    assert_none("docs/SUMMARY.md is not the list of pages", summary_problems(&pages));
}

/// Returns code and title of each page in a folder, from its first line `# CODE: title`.
fn codes_and_titles(folder: &str) -> Vec<(String, String)> {
    let paths = tracked_files().into_iter().filter(|path| path.starts_with(folder) && path.ends_with(".md"));
    let title = |path: String| {
        let text = read(&path);
        let first = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        let (code, title) = first.split_once(": ").unwrap_or_else(|| panic!("{path} begins with its code and title"));
        (code.to_owned(), title.to_owned())
    };
    paths.map(title).collect()
}

#[test]
fn reference_lists_every_error_and_rule_with_its_title() {
    for (folder, page, least) in [
        ("host/core/errors/", "docs/reference/errors.md", 80),
        ("host/tooling/src/check/rules/", "docs/reference/rules.md", 60),
    ] {
        let text = read(page);
        let codes = codes_and_titles(folder);
        assert!(codes.len() >= least, "{folder}: {}", codes.len());
        let row = |code: &str, title: &str| format!("| [{code}](../../{folder}{code}.md) | {title} |");
        let missing = codes.iter().map(|(code, title)| row(code, title)).filter(|row| !text.contains(row));
        assert_none(page, missing.collect());
    }
}

#[test]
fn reference_lists_every_event() {
    let source = read("host/core/src/event/mod.rs");
    let (_, body) = source.split_once("pub enum Body {\n").expect("the events are there");
    let (body, _) = body.split_once("\n}\n").expect("the events end");
    // A variant is indented by four spaces and begins with an uppercase letter. Fields are indented further, and
    // attributes begin with `#`.
    let variant = |line: &str| {
        let name = line.strip_prefix("    ")?.split([' ', ',']).next()?;
        name.starts_with(|c: char| c.is_ascii_uppercase()).then(|| snake_case(name))
    };
    let kinds: Vec<String> = body.lines().filter_map(variant).collect();
    assert!(kinds.len() > 50, "{kinds:?}");
    let page = read("docs/reference/events.md");
    let missing = kinds.into_iter().filter(|kind| !page.contains(&format!("| `{kind}` | ")));
    assert_none("docs/reference/events.md", missing.collect());
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (at, c) in name.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[test]
fn readme_shows_the_code_of_the_templates() {
    let template =
        |kind: &str, noun: &str| read(&format!("guest-sdk/rust/template/{kind}/src/lib.rs")).replace("{{Noun}}", noun);
    let templates = [template("step", "Greeter"), template("tool", "Notes")];
    let readme = read("README.md");
    let blocks: Vec<&str> =
        readme.split("\n```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
    assert!(blocks.len() >= 2, "README shows a step and a tool");
    for block in blocks {
        assert!(templates.iter().any(|template| template.contains(block)), "no template contains this code:\n{block}");
    }
}

/// Returns the broken links of pages that are given as pairs of path and text.
fn broken_links_of(pages: &[(&str, &str)]) -> Vec<String> {
    let pages: Pages = pages.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    broken_links(&pages, |path| pages.contains_key(path) || path == "docs" || path == "docs/a.svg")
}

#[test]
fn broken_file_and_broken_anchor_are_found() {
    let other = ("docs/b.md", "# One thing\n\n## Two, `three`\n");
    let check = |text: &str| broken_links_of(&[("docs/a.md", text), other]);
    for good in [
        "[x](b.md) [y](b.md#one-thing) [z](b.md#two-three) [self](a.md) [folder](../docs/)",
        "# Here\n[x](#here) [y](https://example.org/nothing#here) [z](mailto:ada@example.org)",
        "`[x](none.md)`\n\n```text\n[x](none.md)\n```\n",
        "<img src=\"a.svg\">\n\n[b]: b.md#one-thing\n",
    ] {
        assert_eq!(check(good), Vec::<String>::new(), "{good}");
    }
    for (bad, found) in [
        ("\n[x](c.md)", "docs/a.md:2: no file c.md"),
        ("[x](../../docs/b.md)", "docs/a.md:1: no file ../../docs/b.md"),
        ("[x](b.md#two)", "docs/a.md:1: no heading b.md#two"),
        ("# Here\n[x](#there)", "docs/a.md:2: no heading #there"),
        ("[x](b.md) and [y](d.md \"title\")", "docs/a.md:1: no file d.md"),
        ("<img src=\"b.svg\">", "docs/a.md:1: no file b.svg"),
        ("```text\n```\n[x](c.md)", "docs/a.md:3: no file c.md"),
        ("[c]: c.md", "docs/a.md:1: no file c.md"),
    ] {
        assert_eq!(check(bad), [found], "{bad}");
    }
}

#[test]
fn anchors_follow_the_rules_of_github() {
    let page = "# A `latch.toml` file: 2nd part\n## A_b - c\n## [Link](x.md) text\n## Same\n## Same\n\
                ```text\n# Not a heading\n```\n<a id=\"own\"></a>\n#not either\n";
    let expected = ["a-latchtoml-file-2nd-part", "a_b---c", "link-text", "same", "same-1", "own"];
    // The anchor of a link is its text, without brackets.
    assert_eq!(anchors(page), expected.into_iter().map(str::to_owned).collect());
}

#[test]
fn unlisted_doubled_and_missing_pages_are_found() {
    let check = |summary: &str| {
        let pages = [(SUMMARY, summary), ("docs/a.md", ""), ("docs/x/b.md", ""), ("README.md", "")];
        summary_problems(&pages.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    };
    assert_eq!(check("- [A](a.md)\n    - [B](x/b.md)\n"), Vec::<String>::new());
    assert_eq!(check("- [A](a.md)\n"), ["docs/x/b.md is unlisted"]);
    assert_eq!(check("- [A](a.md)\n- [A](a.md)\n- [B](x/b.md)\n"), ["docs/a.md is listed twice"]);
    assert_eq!(check("- [A](a.md)\n- [B](x/b.md)\n- [C](c.md)\n"), ["docs/c.md does not exist"]);
}
