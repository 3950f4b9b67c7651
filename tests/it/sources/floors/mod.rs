//! Floors of each crate: no file imports from a higher floor, and no files import each other in a circle.
//!
//! The table of floors stands in the documentation of the crate's root, top floor first. Modules in one row stand on
//! the same floor and must not form a circle either. The same holds within a folder whose `mod.rs` lists its floors.

mod folders;
mod import_graph;
mod methods;

use std::collections::BTreeMap;

use crate::support::checkout::root;
use import_graph::ImportGraph;

/// Crates with floors, and the file of their root.
const CRATES: [(&str, &str); 8] = [
    ("latchwork_core", "host/core/src/lib.rs"),
    ("latchwork_store", "host/store/src/lib.rs"),
    ("latchwork_engine", "host/engine/src/lib.rs"),
    ("latchwork", "host/src/lib.rs"),
    ("latchwork_tooling", "host/tooling/src/lib.rs"),
    ("latchwork_cli", "host/cli/src/lib.rs"),
    ("latchwork_guest", "guest-sdk/rust/src/lib.rs"),
    ("latchwork_model", "tests/model/src/lib.rs"),
];

/// Crates that have no floors, and the file of their root. Their files must not form a circle either.
const CRATES_WITHOUT_FLOORS: [(&str, &str); 3] = [
    ("latchwork_example", "host/example/src/main.rs"),
    ("it", "tests/it/main.rs"),
    ("sim", "tests/sim/tests/sim/main.rs"),
];

fn graph(name: &str, file: &str) -> ImportGraph {
    let graph = ImportGraph::of_crate(&root().join(file));
    // A crate of one file has no imports between files.
    let are_found = graph.edges().len() == 1 || graph.edges().values().map(|to| to.len()).sum::<usize>() > 10;
    assert!(are_found, "{name}: the imports are found");
    graph
}

/// Returns the floor of each top-level module, counted from the top. The documentation of the crate's root lists the
/// floors.
fn floors(file: &str) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let mut floors = BTreeMap::new();
    for (row, line) in text.lines().filter(|line| line.starts_with("//! |")).enumerate() {
        let cell = line.trim_start_matches("//! |").split('|').next().unwrap_or_default();
        for name in cell.split('`').skip(1).step_by(2) {
            floors.insert(name.trim_start_matches("mod@").to_owned(), row);
        }
    }
    floors
}

/// Tests I193: the files of a crate import each other without a circle.
#[test]
fn no_circle_between_files() {
    let crates = CRATES.iter().chain(&CRATES_WITHOUT_FLOORS);
    let mut circles: Vec<Vec<String>> = crates.flat_map(|(name, file)| graph(name, file).circles()).collect();
    circles.sort_by_key(Vec::len);
    let shortest: Vec<String> = circles.iter().take(3).map(|circle| circle.join(" -> ")).collect();
    assert!(circles.is_empty(), "files import each other in a circle, for example:\n  {}", shortest.join("\n  "));
}

/// Tests I193: a file imports only from its own floor and from lower floors.
#[test]
fn no_import_from_a_higher_floor() {
    let mut found = Vec::new();
    for (name, file) in CRATES {
        let floors = floors(file);
        for (from, imports) in graph(name, file).edges() {
            let Some(top) = from.first() else { continue };
            let Some(own) = floors.get(top) else {
                found.push(format!("{file}: the table of floors does not list the module `{top}`"));
                continue;
            };
            for to in imports {
                let upper = to.first().and_then(|top| floors.get(top)).is_some_and(|floor| floor < own);
                if upper || to.is_empty() {
                    found.push(format!("{name}: {} imports from {}", from.join("::"), to.join("::")));
                }
            }
        }
    }
    found.dedup();
    assert!(found.is_empty(), "imports from a higher floor:\n  {}", found.join("\n  "));
}

/// Returns the edges of a graph as `from -> to`.
fn edges(graph: &ImportGraph) -> Vec<String> {
    let edges = graph.edges().iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    edges.map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::"))).collect()
}

/// The scanner finds imports in every form: `use` trees, aliases, paths in expressions and macros, and re-exports.
#[test]
fn imports_are_found_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("lib.rs", "pub mod a; mod b; mod c; mod d; mod e; pub mod f;");
    write("a.rs", "use crate::{b::B, f}; fn x() { f::inner::y(); println!(\"{}\", crate::c::C); }");
    write(
        "b.rs",
        "#[macro_export] macro_rules! b { () => {}; } pub struct B; impl B { fn d(&self) -> super::d::D { super::d::D } }",
    );
    write("c.rs", "pub const C: u8 = 1; #[cfg(test)] mod tests { use crate::a; }");
    write("d.rs", "pub struct D; // use crate::a;\nconst TEXT: &str = \"crate::a::x\";");
    write("f/mod.rs", "mod inner_file; pub use inner_file as inner; pub use crate::b::B as Again;");
    write("f/inner_file.rs", "use super::Again; pub fn y() {}");
    write("e.rs", "mod hidden { pub use crate::d::D as Hidden; } fn z(_: hidden::Hidden) { crate::b!(); }");
    let graph = ImportGraph::of_crate(&folder.path().join("lib.rs"));
    assert_eq!(
        edges(&graph),
        ["a -> b", "a -> c", "a -> f", "a -> f::inner_file", "b -> d", "e -> b", "e -> d", "f::inner_file -> b"]
    );
    assert!(graph.circles().is_empty());
    write("d.rs", "use crate::a::x; pub struct D;");
    let graph = ImportGraph::of_crate(&folder.path().join("lib.rs"));
    assert_eq!(graph.circles(), [["a", "b", "d", "a"]]);
}

/// A call of an inherent method counts as an import from the file that defines the method, even if the `impl` blocks of
/// the type are in several files.
#[test]
fn calls_of_methods_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod chain; mod foreign; mod glob; mod other; mod own; mod path; mod types; mod value;");
    write("types.rs", "pub struct Job; pub struct Step; impl Job { pub fn read(&self) -> &Step { &Step } }");
    write("chain.rs", "impl crate::types::Job { pub fn chain(&self) { self.read().last::<u8>(); } }");
    write(
        "glob.rs",
        "use super::types::*; impl Step { pub fn last(&self) {} } impl Job { fn glob(&self) { self.own(); } }",
    );
    write("own.rs", "use crate::types::Job; impl Job { pub fn own(&self) { format!(\"{}\", self.chain()); } }");
    write("path.rs", "use crate::types::Job as J; impl J { pub fn path() { [].map(Self::own); J::value(); } }");
    write("value.rs", "use crate::types::Job; impl Job { pub fn value() {} } fn f(job: &Job) { job.own(); }");
    // Values of another type, a field, a method of a trait, and a type with the same name are no calls.
    let other = "fn f(job: &Job, steps: Vec<u8>) { steps.own(); job.own; job.last(); } trait T { fn last(&self); }";
    write("other.rs", &format!("use crate::types::Job; {other}"));
    write("foreign.rs", "pub struct Job; impl Job { pub fn read(&self) { self.own(); } }");
    let graph = || ImportGraph::of_crate(&folder.path().join("lib.rs"));
    assert_eq!(
        edges(&graph()),
        [
            "chain -> types",
            "glob -> own",
            "glob -> types",
            "other -> types",
            "own -> chain",
            "own -> types",
            "path -> own",
            "path -> types",
            "path -> value",
            "value -> own",
            "value -> types"
        ]
    );
    assert!(graph().circles().is_empty());
    write("value.rs", "use crate::types::Job; impl Job { pub fn value() {} } fn f(job: &Job) { job.path(); }");
    assert_eq!(graph().circles(), [["path", "value", "path"]]);
}
