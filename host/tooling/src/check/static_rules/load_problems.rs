//! Reports every problem for which a host refuses to load a plugin: D001 to D013, D017, D018 and D020. Also reports
//! missing function names (D016), because the call path in a finding consists of function names. The component's bytes
//! supply details that the engine does not report.

use latchwork_engine::PluginProblem;

use crate::check::finding::Finding;
use crate::check::static_rules::input::StaticInput;
use crate::inspect::{CallGraph, ComponentInfo, DifferenceKind, FileKind, InterfaceDifference, Reachability};

pub(super) fn run(component: &StaticInput<'_>) -> Vec<Finding> {
    let Err(error) = component.loaded else { return vec![] };
    let anatomy = ComponentInfo::read(component.bytes);
    let file = component.file;
    let mut found = Vec::new();
    format_findings(&anatomy, file, &mut found);
    let differences = anatomy.unresolvable_differences(anatomy.nearest_world());
    found.extend(differences.iter().filter_map(|it| world_difference(file, &anatomy, it)));
    let imports = import_findings(component, &anatomy, &differences, &error.problems);
    found.extend(imports);
    let explained = !found.is_empty();
    found.extend(
        error.problems.iter().filter_map(|problem| other_problem(file, problem, explained, anatomy.is_untyped())),
    );
    found
}

/// Reports D001 for bytes that are not a component, and D005 for features that the host does not support.
fn format_findings(anatomy: &ComponentInfo, file: &str, found: &mut Vec<Finding>) {
    if *anatomy.file_kind() != FileKind::Component {
        let mut finding = Finding::new("D001", file, format!("it is {}", anatomy.file_kind()));
        finding.hint = anatomy.hints(&[]).into_iter().next();
        found.push(finding);
    }
    for used in anatomy.features() {
        let feature = used.feature;
        let message = format!("it uses {}, and {}: {}", feature.name, feature.why, used.found);
        let functions = used.function.iter().cloned().collect();
        found.push(Finding::new("D005", file, message).functions(functions).hint(feature.instead));
    }
}

/// Returns a finding for one difference between the component and its world. Returns `None` for an import of a foreign
/// interface, because `import_findings` decides about such imports.
fn world_difference(file: &str, anatomy: &ComponentInfo, it: &InterfaceDifference) -> Option<Finding> {
    // Bytes that are not a component cannot be compared with a world.
    if *anatomy.file_kind() != FileKind::Component {
        return None;
    }
    let rule = match it.kind {
        DifferenceKind::BothWorlds | DifferenceKind::MissingExport => "D003",
        DifferenceKind::ExportSignature | DifferenceKind::ImportSignature => "D006",
        DifferenceKind::ExportVersion | DifferenceKind::ImportVersion => "D007",
        DifferenceKind::ForeignImport if it.function.is_some() => "D002",
        // `import_findings` decides about this import, because the plugin's entry in the configuration may allow it.
        DifferenceKind::ForeignImport => return None,
    };
    let mut finding = Finding::new(rule, file, it.to_string());
    if let (Some(expected), Some(there)) = (&it.expected, &it.found) {
        finding = finding.values(expected, there);
    } else {
        finding.expected = it.expected.clone();
    }
    let named = it.kind == DifferenceKind::MissingExport || it.instead.is_empty();
    finding.hint = match named {
        true => anatomy.hints(std::slice::from_ref(it)).into_iter().next(),
        false => Some(it.instead.clone()),
    };
    Some(finding)
}

/// Reports imports that the world does not have or that the plugin's entry in the configuration does not allow.
fn import_findings(
    component: &StaticInput<'_>,
    anatomy: &ComponentInfo,
    at_best: &[InterfaceDifference],
    problems: &[PluginProblem],
) -> Vec<Finding> {
    let refused: Vec<&str> = problems
        .iter()
        .filter_map(|problem| match problem {
            PluginProblem::Import { import, .. } => Some(import.as_str()),
            _ => None,
        })
        .filter(|import| !at_best.iter().any(|it| it.kind == DifferenceKind::ImportVersion && it.interface == *import))
        .collect();
    if refused.is_empty() {
        return vec![];
    }
    let wanted: Vec<_> = refused.iter().map(|import| (*import, None)).collect();
    let reached = CallGraph::link(component.bytes).find_paths(&wanted);
    let mut found = Vec::new();
    for (import, reach) in refused.into_iter().zip(reached) {
        let never = at_best.iter().any(|it| it.is_import() && it.interface == import);
        let is_tool = anatomy.nearest_world() == latchwork_core::model::manifest::PluginKind::Tool;
        let rule = if never || !is_tool { "D002" } else { "D017" };
        let instead = problems.iter().find_map(|problem| match problem {
            // The engine's text ends with the call path. A finding has a separate field for the path.
            PluginProblem::Import { import: of, instead } if of == import => {
                Some(instead.strip_suffix(&format!("; {reach}")).unwrap_or(instead).to_owned())
            }
            _ => None,
        });
        let suffix = match reach {
            Reachability::Never => "; no code calls it",
            _ => "",
        };
        let mut finding = Finding::new(rule, component.file, format!("it imports {import}{suffix}"));
        finding.hint = instead;
        if let Reachability::Path { frames, .. } = &reach {
            finding.functions = frames.iter().map(|frame| frame.function.clone()).collect();
            if !anatomy.toolchain().has_names && !frames.iter().rev().skip(1).any(|frame| frame.named) {
                let message = "its functions have no names, so the call path to an import cannot be shown";
                let hint =
                    "build it without stripping names (Rust: no `strip` in the profile; clang: no -Wl,--strip-all)";
                found.push(Finding::new("D016", component.file, message).hint(hint));
            }
        }
        found.push(finding);
    }
    found
}

/// Reports problems that the bytes alone do not show: failures of `describe`, and errors in the plugin's entry in the
/// configuration.
fn other_problem(file: &str, problem: &PluginProblem, explained: bool, is_plain: bool) -> Option<Finding> {
    let message = problem.to_string();
    let rule = match problem {
        PluginProblem::Import { .. } => return None,
        PluginProblem::NotAComponent(_) | PluginProblem::Export { .. } if explained => return None,
        PluginProblem::NotAComponent(_)
        | PluginProblem::TooLarge(_)
        | PluginProblem::Digest { .. }
        | PluginProblem::Source(_)
        | PluginProblem::Unwritable { .. }
        | PluginProblem::DuplicateOperator { .. } => "D001",
        PluginProblem::UnsuitableFunction { .. } => "D020",
        PluginProblem::Export { .. } if is_plain => "D020",
        PluginProblem::Export { .. } => "D003",
        PluginProblem::DuplicateOperatorName { .. } => "D010",
        PluginProblem::GrantsOnStep
        | PluginProblem::GrantedFolder(_)
        | PluginProblem::ConfirmationOnStep
        | PluginProblem::VirtualWasiOnTool
        | PluginProblem::InvalidOverride { .. }
        | PluginProblem::RedundantOverrides => "D018",
        PluginProblem::Describe(text) if text.contains("it calls the import") => "D009",
        PluginProblem::Describe(_) => "D008",
        PluginProblem::Manifest { at, wrong } => manifest_rule(at, wrong),
    };
    Some(Finding::new(rule, file, message))
}

/// Returns the rule that applies to a part of the manifest.
fn manifest_rule(at: &str, wrong: &str) -> &'static str {
    let part = at.rsplit(", ").next().unwrap_or(at);
    match part {
        "version" => "D013",
        "name" if wrong.contains("twice") => "D010",
        "effects" | "determinism" => "D011",
        "input-schema" | "output-schema" => "D012",
        _ => "D004",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use latchwork::evidence::jobless_step_settings;

    use crate::check::static_rules::component_builder::component;
    use latchwork_engine::{Engine, EngineOptions};

    /// I68: an untyped component has functions that cannot be operators. They must violate D020 and no rule about the
    /// worlds of Latchwork. A component without such functions must have no finding.
    #[test]
    fn untyped_functions_that_cannot_be_operators_break_d020() {
        let engine = Engine::new(EngineOptions::default()).unwrap();
        let rows = "package example:db;
            interface rows { resource cursor { next: func() -> u8; } open: func() -> cursor; }
            world w { export rows; export plain: func(); }";
        let deep = (0..40).fold("u16".to_owned(), |inner, _| format!("list<{inner}>"));
        let deep = format!("package a:b; interface i {{ f: func(x: {deep}) -> u8; }} world w {{ export i; }}");
        let many: Vec<_> = (0..501).map(|n| format!("fun{n}: func();")).collect();
        let many = format!("package a:b; interface i {{ {} }} world w {{ export i; }}", many.join(" "));
        let good = "package a:b; world w { export plain: func(n: u8) -> string; }";
        for (wit, why) in [(rows, "a resource"), (&deep, "deep"), (&many, "more than 500 functions"), (good, "")] {
            let bytes = component(wit);
            let loaded = engine.load(&bytes, jobless_step_settings("calc"));
            let outline = engine.component_interface(&bytes, u64::MAX);
            let found = run(&StaticInput { file: "it.wasm", bytes: &bytes, outline, loaded: &loaded });
            assert!(found.iter().all(|finding| finding.rule == "D020"), "{found:#?}");
            assert_eq!(found.is_empty(), why.is_empty(), "{found:#?}");
            assert!(found.is_empty() || found.iter().any(|finding| finding.message.contains(why)), "{found:#?}");
        }
    }
}
