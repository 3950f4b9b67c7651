//! What a step says against what its operator says of itself.

use serde_json::Value;

use super::report::{Report, rule};
use super::suggest::did_you_mean;
use super::view::View;
use super::{Catalog, OperatorInfo};
use crate::ids::Operator;
use crate::manifest::{Determinism, Effect, PluginKind};

/// Every step against its operator.
pub(super) fn check(steps: &[View<'_>], catalog: &dyn Catalog, report: &mut Report) {
    let served = catalog.names();
    for step in steps.iter().filter(|step| matches!(step.text("kind"), Some("operator" | "llm"))) {
        let info = served_operator(step, "name", rule::UNKNOWN_OPERATOR, catalog, &served, report);
        if let Some(info) = &info {
            effects(step, info, report);
            reuse(step, info, report);
        }
        compensation(step, info.as_ref(), catalog, &served, report);
    }
}

/// The effects of an operator that a step's declaration does not cover: each has to be named,
/// but for `produce_outcome`, which changes nothing.
pub fn uncovered(declared: &[Effect], caused: &[Effect]) -> Vec<Effect> {
    let is_covered = |effect: &Effect| *effect == Effect::ProduceOutcome || declared.contains(effect);
    caused.iter().copied().filter(|effect| !is_covered(effect)).collect()
}

/// The operator that a key names, or a violation.
fn served_operator(
    step: &View<'_>,
    key: &str,
    code: &'static str,
    catalog: &dyn Catalog,
    served: &[String],
    report: &mut Report,
) -> Option<OperatorInfo> {
    let name = step.text(key).filter(|name| Operator::is_valid(name))?;
    let info = catalog.operator(name);
    if info.is_none() {
        let close = did_you_mean(name, served.iter().map(String::as_str));
        report.add(
            step.pointer(key),
            code,
            format!("no loaded plugin serves `{name}`{close}; see `latch plugin list`"),
        );
    }
    info
}

fn effects(step: &View<'_>, info: &OperatorInfo, report: &mut Report) {
    let Some(items) = step.get("effects").and_then(Value::as_array) else { return };
    let named = |effect: &Effect| items.iter().any(|item| item == effect.as_str());
    let declared: Vec<Effect> = Effect::ALL.into_iter().filter(named).collect();
    for effect in uncovered(&declared, &info.effects) {
        let name = step.text("name").unwrap_or_default();
        let message = format!("`{name}` may cause `{}`, which the step does not declare; add it", effect.as_str());
        report.add(step.pointer("effects"), rule::EFFECTS_TOO_NARROW, message);
    }
}

fn reuse(step: &View<'_>, info: &OperatorInfo, report: &mut Report) {
    if info.determinism == Determinism::External && step.text("cache_policy") == Some("use_if_safe") {
        let name = step.text("name").unwrap_or_default();
        let message = format!(
            "`{name}` is external: what it answers ages, and no rule can tell how fast; use `never` or {{\"ttl_seconds\": 60}}"
        );
        report.add(step.pointer("cache_policy"), rule::UNSAFE_REUSE, message);
    }
}

fn compensation(
    step: &View<'_>,
    own: Option<&OperatorInfo>,
    catalog: &dyn Catalog,
    served: &[String],
    report: &mut Report,
) {
    let (key, code) = ("compensate_with", rule::BAD_COMPENSATION);
    let by = match step.text(key) {
        None => return,
        Some("self") => own.cloned(),
        Some(_) => served_operator(step, key, code, catalog, served, report),
    };
    if by.is_some_and(|by| by.kind == PluginKind::Step) {
        report.add(step.pointer(key), code, "only a tool can undo an effect, and this is a step plugin");
    }
}
