//! Adds details from the component's bytes to the engine's refusals. The engine itself reports only the first type that
//! differs, and no call path to an import.

use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::interfaces::{Explain, PluginProblem};

use crate::inspect::calls::CallGraph;
use crate::inspect::component_info::ComponentInfo;
use crate::inspect::difference::DifferenceKind;
use crate::inspect::file_kind::FileKind;

/// The function [`explain`], in the wrapper type that an engine requires.
pub const EXPLAIN: Explain = Explain(explain);

/// Adds details to the problems:
///
/// * For a file that is not a component: the kind of the file.
/// * For a component that uses refused features: these features.
/// * For an export: all differences of its signature.
/// * For an import: the call path to the import.
pub fn explain(bytes: &[u8], problems: Vec<PluginProblem>) -> Vec<PluginProblem> {
    let anatomy = ComponentInfo::read(bytes);
    let imports: Vec<(&str, Option<&str>)> = problems
        .iter()
        .filter_map(|problem| match problem {
            PluginProblem::Import { import, .. } => Some((import.as_str(), None)),
            _ => None,
        })
        .collect();
    let mut reached = match imports.is_empty() {
        true => vec![],
        false => CallGraph::link(bytes).find_paths(&imports),
    }
    .into_iter();
    let mut out = Vec::new();
    for problem in problems.iter().cloned() {
        match problem {
            PluginProblem::Import { import, instead } => {
                let reach = reached.next().map(|reach| format!("; {reach}")).unwrap_or_default();
                out.push(PluginProblem::Import { import, instead: instead + &reach });
            }
            PluginProblem::NotAComponent(text) => not_a_component(&anatomy, text, &mut out),
            PluginProblem::Export { export, wrong } => match signature_differences(&anatomy, &export) {
                Some(full) => out.push(PluginProblem::Export { export, wrong: full }),
                None => out.push(PluginProblem::Export { export, wrong }),
            },
            other => out.push(other),
        }
    }
    out
}

fn not_a_component(anatomy: &ComponentInfo, text: String, out: &mut Vec<PluginProblem>) {
    let hint = || anatomy.hints(&[]).into_iter().next().map(|hint| format!("; {hint}")).unwrap_or_default();
    if *anatomy.file_kind() != FileKind::Component {
        return out.push(PluginProblem::NotAComponent(format!("it is {}{}", anatomy.file_kind(), hint())));
    }
    if anatomy.features().is_empty() {
        return out.push(PluginProblem::NotAComponent(text));
    }
    out.extend(anatomy.features().iter().map(|used| {
        let place = used.function.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
        let feature = used.feature;
        PluginProblem::NotAComponent(format!(
            "it uses {}, which is refused because {}: {}{place}; {}",
            feature.name, feature.why, used.found, feature.instead
        ))
    }));
}

/// Lists every difference in the signatures of an exported interface.
fn signature_differences(anatomy: &ComponentInfo, export: &str) -> Option<String> {
    let all = anatomy.differences(anatomy.nearest_world(), &Grants::default(), WasiMode::Virtual);
    let here: Vec<String> = all
        .iter()
        .filter(|difference| difference.interface == export && difference.kind == DifferenceKind::ExportSignature)
        .map(ToString::to_string)
        .collect();
    (!here.is_empty()).then(|| here.join("; ").replace("it exports ", "").replace(&format!(" of {export}"), ""))
}
