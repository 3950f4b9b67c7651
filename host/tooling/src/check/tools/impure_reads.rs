//! D114 without a run: the calls that lead from the operators of a pure tool to a clock, random numbers or a secret.

use latchwork_core::model::manifest::Determinism;
use latchwork_engine::interfaces::package::interface_name;
use latchwork_engine::{IMPURE_READS, Plugin};

use crate::check::finding::Finding;
use crate::check::report::CheckReport;
use crate::inspect::{CallGraph, ComponentInfo, Language, Reachability};

/// The function that returns a secret, in the form of the entries of [`IMPURE_READS`]. The host refuses this function
/// and all of these entries during a call of a pure operator.
const SECRET: (&str, &str, &str) = ("latchwork:plugin/secrets", "get", "a secret");

/// Reports the reads that code of the plugin reaches. Adds a note instead if the reads of the pure operators cannot be
/// distinguished from other reads. This is the case if the component also has operators that are not pure, or if the
/// runtime of its language makes such reads in every program.
pub(in crate::check) fn run(plugin: &Plugin, bytes: &[u8], file: &str, report: &mut CheckReport) {
    let operators = &plugin.manifest.operators;
    let pure: Vec<&str> =
        operators.iter().filter(|spec| spec.determinism == Determinism::Pure).map(|spec| spec.name.as_str()).collect();
    let imported: Vec<(&str, &str, &str)> = IMPURE_READS
        .iter()
        .chain([&SECRET])
        .flat_map(|(interface, function, what)| {
            let is_of = move |import: &str| import.strip_prefix(interface).is_some_and(|rest| rest.starts_with('@'));
            let of = plugin.imports.iter().filter(move |import| is_of(import));
            of.map(|import| (import.as_str(), *function, *what))
        })
        .collect();
    if pure.is_empty() || imported.is_empty() {
        return;
    }
    let by_cases = "the host refuses such a read during a call, and the cases show it (D114)";
    if pure.len() < operators.len() {
        let names = pure.join(", ");
        report.notes.push(format!(
            "the code of {names} is not looked at for reads of clocks, random numbers and secrets, because operators of the \
             same component are not pure; {by_cases}"
        ));
        return;
    }
    if let Some(language) = language_with_runtime(bytes) {
        report.notes.push(format!(
            "its code is not looked at for reads of clocks, random numbers and secrets, because the runtime of {language} \
             contains calls of them; {by_cases}"
        ));
        return;
    }
    let wanted: Vec<_> = imported.iter().map(|(import, function, _)| (*import, Some(*function))).collect();
    let paths = CallGraph::link(bytes).find_paths_from(&interface_name("invoke"), &wanted);
    for ((import, function, what), path) in imported.into_iter().zip(paths) {
        let Reachability::Path { frames, .. } = path else { continue };
        let verb = if function.starts_with("subscribe") { "waits for" } else { "reads" };
        let message =
            format!("it declares that it is pure, but its code reaches {import}#{function}, which {verb} {what}");
        let mut finding = Finding::new("D114", file, message);
        if let [name] = pure.as_slice() {
            finding = finding.of(*name);
        }
        // The innermost function is first, as in a call stack.
        finding.functions = frames.into_iter().rev().map(|frame| frame.function).collect();
        report.add([finding]);
    }
}

/// Returns the name of the language, if every component of it contains a runtime that can read clocks.
fn language_with_runtime(bytes: &[u8]) -> Option<&'static str> {
    let language = ComponentInfo::read(bytes).toolchain().language;
    match language {
        Language::Python
        | Language::JavascriptQuickjs
        | Language::JavascriptStarlingmonkey
        | Language::Go
        | Language::TinyGo => Some(language.name()),
        Language::Rust | Language::C | Language::Unknown => None,
    }
}
