//! Rules that compare a step with the properties of its operator.

use serde_json::Value;

use super::report::{ViolationReport, rule};
use super::view::StepFields;
use super::{Catalog, OperatorInfo};
use crate::encoding::suggest::did_you_mean;
use crate::model::ids::Operator;
use crate::model::manifest::{Determinism, EffectKind, PluginKind};

/// Checks every step against its operator.
pub(super) fn check(steps: &[StepFields<'_>], catalog: &dyn Catalog, report: &mut ViolationReport) {
    let served = catalog.names();
    for step in steps.iter().filter(|step| matches!(step.text("kind"), Some("operator" | "llm"))) {
        template_of_reuse(step, report);
        let info = served_operator(step, "name", rule::UNKNOWN_OPERATOR, catalog, &served, report);
        if let Some(info) = &info {
            effects(step, info, report);
            reuse(step, info, report);
        }
        compensation(step, info.as_ref(), catalog, &served, report);
    }
}

/// Returns the effects of an operator that a step must declare but does not declare. Every effect except
/// `produce_outcome` must be declared.
pub fn uncovered(declared: &[EffectKind], caused: &[EffectKind]) -> Vec<EffectKind> {
    let is_covered = |effect: &EffectKind| *effect == EffectKind::ProduceOutcome || declared.contains(effect);
    caused.iter().copied().filter(|effect| !is_covered(effect)).collect()
}

/// Returns the operator that the step names under `key`. If no loaded plugin serves the name, reports a
/// violation of the rule `code`.
fn served_operator(
    step: &StepFields<'_>,
    key: &str,
    code: &'static str,
    catalog: &dyn Catalog,
    served: &[String],
    report: &mut ViolationReport,
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

fn effects(step: &StepFields<'_>, info: &OperatorInfo, report: &mut ViolationReport) {
    if step.get("effects").and_then(Value::as_array).is_none() {
        return;
    }
    let declared = declared(step);
    let missing = uncovered(&declared, &info.effects);
    if missing.is_empty() {
        return;
    }
    let words = EffectKind::ALL.into_iter().filter(|effect| missing.contains(effect));
    let words: Vec<String> = words.map(|effect| format!("`{}`", effect.as_str())).collect();
    let name = step.text("name").unwrap_or_default();
    let id = step.text("step_id").unwrap_or_default();
    // If the step states its effects, the suggestion lists the stated and the missing effects. Otherwise, the
    // suggestion lists all effects of the operator that must be declared.
    let (verb, preposition, kept) = match step.is_stated("effects") {
        true => ("write", "in", declared),
        false => ("add", "to", uncovered(&[], &info.effects)),
    };
    let needed = EffectKind::ALL.into_iter().filter(|effect| kept.contains(effect) || missing.contains(effect));
    let needed: Vec<String> = needed.map(|effect| format!("{:?}", effect.as_str())).collect();
    let line = format!("[{}]", needed.join(", "));
    let message = format!(
        "`{name}` may cause {}, which the step does not declare; {verb} \"effects\": {line} {preposition} step {id}",
        words.join(" and "),
    );
    report.add(step.pointer("effects"), rule::EFFECTS_TOO_NARROW, message);
}

/// Checks that a step has a template if the step may reuse an earlier result. The key of the template finds this
/// result.
fn template_of_reuse(step: &StepFields<'_>, report: &mut ViolationReport) {
    let reuses = step.get("cache_policy").is_some_and(|policy| policy == "use_if_safe" || policy.is_object());
    if reuses && step.get("idempotency_template").is_some_and(Value::is_null) {
        let message = "an earlier result is found by the key of `idempotency_template`, but the step has none; add one \
                       that names what the result is made from, or use `never`";
        report.add(step.pointer("cache_policy"), rule::REUSE_WITHOUT_TEMPLATE, message);
    }
}

fn reuse(step: &StepFields<'_>, info: &OperatorInfo, report: &mut ViolationReport) {
    if info.determinism == Determinism::External && step.text("cache_policy") == Some("use_if_safe") {
        let name = step.text("name").unwrap_or_default();
        let message = format!(
            "`{name}` is external: its answers go out of date after an unknown time; use `never` or {{\"ttl_seconds\": 60}}"
        );
        report.add(step.pointer("cache_policy"), rule::UNSAFE_REUSE, message);
    }
}

fn compensation(
    step: &StepFields<'_>,
    own: Option<&OperatorInfo>,
    catalog: &dyn Catalog,
    served: &[String],
    report: &mut ViolationReport,
) {
    let (key, code) = ("compensate_with", rule::BAD_COMPENSATION);
    let by = match step.text(key) {
        None => return,
        Some("self") => own.cloned(),
        Some(_) => served_operator(step, key, code, catalog, served, report),
    };
    let Some(by) = by else { return };
    if by.kind == PluginKind::Step {
        report.add(step.pointer(key), code, "only a tool can undo an effect, and this is a step plugin");
    } else if catalog.knows_operators() {
        check_compensation(step, (own, &by), step.text(key).unwrap_or_default(), report);
    }
}

/// Checks that the compensating operator `by` can undo the step, and that the step declares the effects of `by`.
fn check_compensation(
    step: &StepFields<'_>,
    (of, by): (Option<&OperatorInfo>, &OperatorInfo),
    named: &str,
    report: &mut ViolationReport,
) {
    let at = step.pointer("compensate_with");
    let own = named == "self";
    if own && !by.compensate {
        let name = step.text("name").unwrap_or_default();
        let message = format!("the plugin of `{name}` exports no `compensate`; name a tool that undoes it");
        report.add(at, rule::CANNOT_UNDO, message);
    } else if !own && !by.effects.iter().any(|effect| effect.is_world_changing()) {
        let message = format!("`{named}` changes nothing, so it undoes nothing");
        report.add(at, rule::CANNOT_UNDO, message);
    } else if !own && step.get("effects").is_some_and(Value::is_array) {
        // Skip effects that the step's own operator `of` may also cause. The rule `EFFECTS_TOO_NARROW` already reports
        // these effects.
        let is_reported = |effect: &EffectKind| of.is_some_and(|of| of.effects.contains(effect));
        for effect in uncovered(&declared(step), &by.effects).into_iter().filter(|effect| !is_reported(effect)) {
            let message = format!(
                "`{named}` may cause `{}`, which the step does not declare; add it to its effects",
                effect.as_str()
            );
            report.add(at.clone(), rule::UNDO_NOT_COVERED, message);
        }
    }
}

/// Returns the valid effects that a step declares.
fn declared(step: &StepFields<'_>) -> Vec<EffectKind> {
    let items = step.get("effects").and_then(Value::as_array);
    let named = |effect: &EffectKind| items.is_some_and(|items| items.iter().any(|item| item == effect.as_str()));
    EffectKind::ALL.into_iter().filter(named).collect()
}
