//! Floors within a folder: no file imports from a file or folder that stands on a higher floor of the same folder.
//!
//! The documentation of the folder's `mod.rs` lists the floors, top floor first: `Floors, top first: ` and then rows
//! with `·` between them. A row names modules in backquotes.

use std::collections::BTreeMap;
use std::path::Path;

use super::import_graph::{ImportGraph, ItemPath};
use super::{CRATES, graph};
use crate::support::checkout::root;

/// Start of the list in the documentation of a folder.
const LIST: &str = "Floors, top first:";

/// Folders whose `mod.rs` must list floors, by crate. The tests also check every other folder that lists them.
const FOLDERS: [(&str, &[&str]); 5] = [
    ("latchwork_core", &["decide", "decide::call", "decide::job", "decide::people", "decide::undo"]),
    (
        "latchwork_engine",
        &["capability", "engine", "engine::untyped", "engine::virtual_wasi", "guest", "interfaces", "native", "os"],
    ),
    ("latchwork", &["config", "registry", "runtime", "runtime::call", "runtime::job", "runtime::worker", "verifier"]),
    (
        "latchwork_tooling",
        &["build", "check", "check::dynamic", "check::tools", "check::variations", "history", "inspect"],
    ),
    (
        "latchwork_cli",
        &["args", "bench", "commands::doctor", "display", "execution", "live", "output", "plugins", "text"],
    ),
];

/// Folders whose modules do not import each other at all.
const SEPARATE: [(&str, &str); 3] =
    [("latchwork_cli", "commands"), ("latchwork_cli", "commands::job"), ("latchwork_cli", "commands::plugin")];

/// Returns the floor of each module that the documentation lists, counted from the top, or `None` without a list.
fn floors(text: &str) -> Option<BTreeMap<String, usize>> {
    let documentation = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let mut lines = documentation.skip_while(|line| !line.starts_with(LIST)).take_while(|line| !line.is_empty());
    let list = lines.next()?.trim_start_matches(LIST).to_owned() + " " + &lines.collect::<Vec<_>>().join(" ");
    let rows = list.split('·').enumerate();
    let names =
        rows.flat_map(|(floor, row)| row.split('`').skip(1).step_by(2).map(move |name| (name.to_owned(), floor)));
    Some(names.collect())
}

/// Returns the module of `folder` that contains `path`, unless `path` is the folder itself or outside of it.
fn module<'p>(path: &'p ItemPath, folder: &ItemPath) -> Option<&'p String> {
    path.strip_prefix(folder.as_slice())?.first()
}

/// Returns the imports within `folder` that go to a higher floor, and the modules that the list omits.
fn violations(graph: &ImportGraph, folder: &ItemPath, floors: &BTreeMap<String, usize>) -> Vec<String> {
    let mut found = Vec::new();
    for (from, imports) in graph.edges() {
        let Some(own) = module(from, folder) else { continue };
        let Some(floor) = floors.get(own) else {
            found.push(format!("{}: the list of floors does not name `{own}`", folder.join("::")));
            continue;
        };
        for to in imports {
            if module(to, folder).and_then(|to| floors.get(to)).is_some_and(|to| to < floor) {
                found.push(format!("{} imports from {}", from.join("::"), to.join("::")));
            }
        }
    }
    found.dedup();
    found
}

/// Tests I193: within a folder, a file imports only from its own floor and from lower floors.
#[test]
fn no_import_from_a_higher_floor_of_a_folder() {
    let mut found = Vec::new();
    for (name, file) in CRATES {
        let (graph, source) = (graph(name, file), root().join(file));
        let source = source.parent().unwrap_or(Path::new("."));
        let required = FOLDERS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, folders)| folders);
        for required in required {
            let folder: ItemPath = required.split("::").map(str::to_owned).collect();
            assert!(graph.edges().contains_key(&folder), "{name}: there is no folder {required}");
        }
        for folder in graph.edges().keys() {
            let text = std::fs::read_to_string(source.join(folder.join("/")).join("mod.rs")).unwrap_or_default();
            match floors(&text) {
                Some(floors) => found.extend(violations(&graph, folder, &floors)),
                None if required.contains(&folder.join("::").as_str()) => {
                    found.push(format!("{name}: {}/mod.rs lists no floors", folder.join("/")));
                }
                None => {}
            }
        }
    }
    assert!(found.is_empty(), "floors of folders:\n  {}", found.join("\n  "));
}

/// Tests I193: modules of the folders in `SEPARATE`, such as the commands, do not import each other.
#[test]
fn modules_of_some_folders_do_not_import_each_other() {
    for (name, folder) in SEPARATE {
        let file = CRATES.iter().find(|(of, _)| *of == name).expect("a crate").1;
        let folder: ItemPath = folder.split("::").map(str::to_owned).collect();
        for (from, imports) in graph(name, file).edges() {
            let Some(own) = module(from, &folder) else { continue };
            let other = imports.iter().find(|to| module(to, &folder).is_some_and(|to| to != own));
            assert_eq!(other, None, "{name}: {} imports from another module of its folder", from.join("::"));
        }
    }
}

/// The check finds an import from a higher floor, and a module that the list omits.
#[test]
fn higher_floors_of_a_folder_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let list = "//! A folder.\n//!\n//! Floors, top first: the folder · `a` ·\n//! `b`, `c`.\n//!\n//! More `d`.\n";
    write("lib.rs", "mod f; mod g;");
    write("f/mod.rs", &format!("{list}mod a; mod b; mod c; mod e;"));
    write("f/a.rs", "use super::b::B; use super::c::C;");
    write("f/b.rs", "pub struct B; use super::c::C;");
    write("f/c.rs", "pub struct C; use crate::f::a; use crate::g;");
    write("f/e.rs", "");
    write("g.rs", "use crate::f::a;");
    let graph = ImportGraph::of_crate(&folder.path().join("lib.rs"));
    let floors = floors(list).unwrap();
    assert_eq!(floors, [("a", 1), ("b", 2), ("c", 2)].map(|(name, floor)| (name.to_owned(), floor)).into());
    let found = violations(&graph, &vec!["f".to_owned()], &floors);
    assert_eq!(found, ["f::c imports from f::a", "f: the list of floors does not name `e`"]);
}
