//! The inspection result as JSON. The format is documented in `docs/howto/inspect.md`.

use serde_json::{Value, json};

use latchwork_core::model::manifest::{OperatorSpec, PluginKind};
use latchwork_engine::{Plugin, PluginProblem};
use latchwork_tooling::inspect::{FeatureUse, InterfaceDifference, Reachability};

use crate::commands::plugin::inspect::inspection::Inspection;
use crate::commands::plugin::inspect::reach;

/// Version of the format.
const SCHEMA: &str = "latchwork.inspect/1";

impl Inspection<'_> {
    pub(super) fn document(&self) -> Value {
        let plugin = self.plugin();
        let (may, may_not) = self.reachable();
        let toolchain = self.anatomy.toolchain();
        let at_best = |world: PluginKind| -> Vec<Value> {
            self.anatomy.unresolvable_differences(world).iter().map(|it| self.difference(it)).collect()
        };
        let exports: Vec<_> = self
            .anatomy
            .exports()
            .iter()
            .map(|item| json!({ "name": item.name, "functions": item.functions }))
            .collect();
        json!({
            "schema": SCHEMA,
            "file": self.file.display().to_string(),
            "bytes": self.bytes,
            "digest": format!("sha256:{}", self.digest),
            "form": self.anatomy.file_kind().as_str(),
            "form_text": self.anatomy.file_kind().to_string(),
            "verdict": self.anatomy.fitting_world().map_or(json!("neither"), |kind| json!(kind)),
            "plain": self.anatomy.is_untyped(),
            "nearest": self.anatomy.nearest_world(),
            "loads": self.loaded.as_ref().map(Result::is_ok),
            "problems": self.problems().iter().map(problem).collect::<Vec<_>>(),
            "configured_as": self.configured.map(|plugin| &plugin.name),
            "wasi": self.configured.map(|plugin| plugin.wasi),
            "needs": self.needs(),
            "toolchain": {
                "language": toolchain.language,
                "name": toolchain.language.name(),
                "tools": toolchain.tools(),
                "producers": toolchain.producers,
                "has_names": toolchain.has_names,
            },
            "features": self.anatomy.features().iter().map(feature).collect::<Vec<_>>(),
            "imports": self.imports.iter().map(|(item, reach)| json!({
                "name": item.name,
                "class": reach::class(&item.name),
                "functions": item.functions,
                "reached": reach::reach_json(reach),
            })).collect::<Vec<_>>(),
            "exports": exports,
            "difference": {
                "step": at_best(PluginKind::Step),
                "tool": at_best(PluginKind::Tool),
                "here": self.difference.iter().map(|it| self.difference(it)).collect::<Vec<_>>(),
            },
            "grants": self.grants().iter().map(|it| json!({
                "key": it.key, "opens": it.opens, "serves": it.serves, "used": it.used, "granted": it.granted,
            })).collect::<Vec<_>>(),
            "hints": self.hints(),
            "version": plugin.map(|plugin| &plugin.manifest.version),
            "operators": plugin.map(|plugin| plugin.manifest.operators.iter().map(|o| operator(plugin, o)).collect::<Vec<_>>()),
            "reconcile": self.exported("reconcile"),
            "verify": self.exported("verify"),
            "compensate": self.exported("compensate"),
            "confirmation": self.confirmed.document(),
            "may_reach": may,
            "may_not_reach": may_not,
            "without_approval": self.without_approval(),
        })
    }

    pub(super) fn hints(&self) -> Vec<String> {
        self.anatomy.hints(&self.difference)
    }

    /// Returns true if a tool exports the interface. Returns `None` if the component is not a tool.
    fn exported(&self, interface: &str) -> Option<bool> {
        (self.anatomy.kind() == Some(PluginKind::Tool)).then(|| self.anatomy.exports_interface(interface))
    }

    fn difference(&self, it: &InterfaceDifference) -> Value {
        let mismatches: Vec<_> = it
            .mismatches
            .iter()
            .map(|mismatch| json!({ "at": mismatch.at, "expected": mismatch.expected, "found": mismatch.found }))
            .collect();
        json!({
            "kind": it.kind,
            "interface": it.interface,
            "function": it.function,
            "expected": it.expected,
            "found": it.found,
            "mismatches": mismatches,
            "instead": it.instead,
            "message": it.to_string(),
            "reached": self.reach_of(it).map(reach::reach_json),
        })
    }

    /// Returns the call path to the import that a difference is about. Returns `None` for any other difference.
    pub(super) fn reach_of(&self, it: &InterfaceDifference) -> Option<&Reachability> {
        let import = || self.imports.iter().find(|(item, _)| item.name == it.interface);
        if it.is_import() { import().map(|(_, reach)| reach) } else { None }
    }
}

fn feature(used: &FeatureUse) -> Value {
    json!({
        "feature": used.feature.id,
        "name": used.feature.name,
        "why": used.feature.why,
        "instead": used.feature.instead,
        "found": used.found,
        "function": used.function,
    })
}

fn problem(problem: &PluginProblem) -> Value {
    json!({ "code": problem.page(), "message": problem.to_string() })
}

fn operator(plugin: &Plugin, spec: &OperatorSpec) -> Value {
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
    json!({
        "name": spec.name,
        "description": spec.description,
        "effects": spec.effects,
        "determinism": spec.determinism,
        "class": plugin.class(spec.name.as_str()),
        "resolution": spec.resolution,
        "outcome_type": spec.outcome_type,
        "outcome_status": spec.outcome_status,
        "limits": plugin.limits(spec.name.as_str()),
        "input_schema": schema(&spec.input_schema),
        "output_schema": schema(&spec.output_schema),
    })
}
