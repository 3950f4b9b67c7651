//! Parsers of files that others wrote. A parser accepts a file or states the reason for its refusal, and never panics. An
//! accepted file has the properties that its parser promises.
//!
//! Two tests use the targets: libFuzzer, which is guided by coverage, and random changes of the project's own files.

use std::path::Path;
use std::sync::OnceLock;

use latchwork::config;
use latchwork::config::LoadOptions;
use latchwork_core::encoding::canon;
use latchwork_core::plan::{Catalog, OperatorInfo};
use latchwork_core::{evidence, plan};
use latchwork_tooling::build::Recipe;
use latchwork_tooling::check::Baseline;
use latchwork_tooling::history::History;
use latchwork_tooling::inspect::{CallGraph, ComponentInfo};

/// A parser, and the files that it reads.
pub(crate) struct Target {
    /// Name of the target and of the folder of its corpus.
    pub(crate) name: &'static str,
    /// Feeds a file to the parser.
    pub(crate) run: fn(&[u8]),
}

/// All targets.
pub(crate) const TARGETS: [Target; 10] = [
    Target { name: "baseline", run: baseline },
    Target { name: "cases", run: cases },
    Target { name: "component", run: component },
    Target { name: "config", run: config },
    Target { name: "evidence", run: evidence },
    Target { name: "history", run: history },
    Target { name: "json", run: json },
    Target { name: "plan", run: plan },
    Target { name: "recipe", run: recipe },
    Target { name: "request", run: request },
];

/// Catalog without plugins. With this catalog, the check of a plan uses the effects that the plan declares.
struct NoPlugins;

impl Catalog for NoPlugins {
    fn operator(&self, _: &str) -> Option<OperatorInfo> {
        None
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }

    fn knows_operators(&self) -> bool {
        false
    }
}

/// The canonical form of JSON is a fixed point.
pub(crate) fn json(text: &[u8]) {
    let Ok(canonical) = canon::canonicalize(text) else { return };
    assert_eq!(canon::canonicalize(&canonical).as_deref(), Ok(&*canonical));
    assert!(canon::parse_strict(&canonical).is_ok());
}

/// A plan is refused, or has a normal form with the same hash.
pub(crate) fn plan(text: &[u8]) {
    match plan::check(text, &NoPlugins) {
        Ok(checked) => {
            let again = plan::check(&checked.to_canonical(), &NoPlugins).expect("a normal form is a valid plan");
            assert_eq!(again.hash(), checked.hash());
        }
        Err(violations) => assert!(!violations.is_empty()),
    }
}

pub(crate) fn request(text: &[u8]) {
    drop(plan::check_request(text, &NoPlugins));
}

/// A configuration is read, or its problems are listed.
pub(crate) fn config(text: &[u8]) {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder can be made")).path();
    std::fs::write(folder.join(config::FILE_NAME), text).expect("a file can be written");
    let options = LoadOptions { cwd: folder, config: None, db: None, plan_folder: None, env: &|_| None };
    if let Err(errors) = config::Config::load(&options) {
        assert!(!errors.0.is_empty());
    }
}

pub(crate) fn recipe(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    if let Err(problems) = Recipe::parse(&text, Path::new("latch-plugin.toml")) {
        assert!(!problems.is_empty());
    }
}

pub(crate) fn cases(text: &[u8]) {
    if let Err(problems) = latchwork_tooling::check::parse("cases.jsonl", text) {
        assert!(!problems.is_empty());
    }
}

/// A baseline that is read can be written and read again.
pub(crate) fn baseline(text: &[u8]) {
    let Ok(baseline) = Baseline::parse(&String::from_utf8_lossy(text)) else { return };
    assert_eq!(Baseline::parse(&baseline.text()), Ok(baseline));
}

pub(crate) fn evidence(text: &[u8]) {
    drop(evidence::verify(text, None, &|_, _, _| false));
}

pub(crate) fn history(text: &[u8]) {
    drop(History::read(text));
}

/// A component of any content can be inspected.
pub(crate) fn component(bytes: &[u8]) {
    let info = ComponentInfo::read(bytes);
    drop((info.imports(), info.exports(), info.features(), info.toolchain()));
    drop(CallGraph::link(bytes).find_paths(&[]));
}
