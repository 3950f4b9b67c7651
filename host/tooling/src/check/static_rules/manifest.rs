//! D014, D015 and D019 for components that a host accepts: the manifest contradicts itself, the component is large, or
//! the manifest lacks a description.

use latchwork_core::model::manifest::PluginKind;
use latchwork_engine::Plugin;

use crate::check::finding::Finding;
use crate::check::static_rules::input::StaticInput;

/// Maximum size of a component, in bytes, without a warning. A larger component takes seconds to compile on each
/// machine that loads it for the first time. Interpreters with their libraries are smaller than this limit.
const LARGE_BYTES: usize = 32 << 20;

pub(super) fn run(component: &StaticInput<'_>) -> Vec<Finding> {
    let file = component.file;
    let mut found = Vec::new();
    if component.bytes.len() > LARGE_BYTES {
        let message = format!("it has {} MiB, more than {}", component.bytes.len() >> 20, LARGE_BYTES >> 20);
        let hint = "build it optimized for size and without debugging information";
        found.push(Finding::new("D015", file, message).hint(hint));
    }
    let Ok(plugin) = component.loaded else { return found };
    for spec in &plugin.manifest.operators {
        let name = spec.name.as_str();
        if spec.description.trim().is_empty() {
            let message = "the operator has no description, which is all that the author of a plan sees";
            found.push(Finding::new("D019", file, message).of(name));
        }
        let resolution = spec.resolution;
        let keyed = resolution.idempotent_by_key_seconds > 0;
        if !spec.is_world_changing() && (keyed || resolution.settling_ms > 0) {
            let message = "it declares how a call in doubt is resolved, but no effect that could be in doubt";
            let hint = "declare internal_write, external_write or external_send if it changes something; \
                        leave the resolution out if it does not";
            found.push(Finding::new("D014", file, message).of(name).hint(hint));
        } else if plugin.kind == PluginKind::Step && keyed {
            let message = "the host executes a step again anyway, but it declares that it may be repeated under a key";
            let hint = "the tools it calls have keys; leave the resolution of the step out";
            found.push(Finding::new("D014", file, message).of(name).hint(hint));
        } else if resolution.settling_ms > 0 && !plugin.reconcile && !keyed {
            let message = "it declares a settling time, but exports no reconcile to be called after that time";
            found.push(
                Finding::new("D014", file, message).of(name).hint("export reconcile, or leave the settling time out"),
            );
        }
    }
    found.extend(unused_exports(file, plugin));
    found
}

/// Reports the exports `reconcile`, `verify` and `compensate` of a tool that declares no world-changing effects.
fn unused_exports(file: &str, plugin: &Plugin) -> Option<Finding> {
    let exports = [("reconcile", plugin.reconcile), ("verify", plugin.verify), ("compensate", plugin.compensate)];
    let there: Vec<&str> = exports.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
    let changes = plugin.manifest.operators.iter().any(|spec| spec.is_world_changing());
    if changes || there.is_empty() {
        return None;
    }
    let message = format!("it exports {}, but no operator declares an effect to which they apply", there.join(", "));
    let hint = "declare what its operators change, or leave the exports out";
    Some(Finding::new("D014", file, message).hint(hint))
}
