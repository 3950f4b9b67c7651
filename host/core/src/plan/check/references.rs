//! Rules about bindings and idempotency templates.

use serde_json::Value;

use super::graph::{Dependencies, names};
use super::parameters;
use super::report::{ViolationReport, rule};
use super::view::StepFields;
use crate::encoding::suggest::did_you_mean;
use crate::model::keys::Template;
use crate::plan::bindings::child;
use crate::plan::{INTENT, bindings};

/// Checks the bindings and templates of all steps.
pub(super) fn check(steps: &[StepFields<'_>], parameters: Option<&Value>, report: &mut ViolationReport) {
    let reach = Dependencies::of(steps);
    let known = names(steps);
    for step in steps {
        template(step, report);
        for (at, binding) in step_bindings(step) {
            let reference = match binding {
                Ok(reference) => reference,
                Err(bad) => {
                    report.add(at, rule::BAD_BINDING, bad.0);
                    continue;
                }
            };
            let target = reference.step().as_str();
            if target == INTENT && !known.contains(target) {
                parameters::check_parameter_binding(&reference, parameters, at, report);
            } else if !known.contains(target) {
                let close = did_you_mean(target, known.iter().copied());
                report.add(at, rule::BINDING_UNKNOWN_STEP, format!("there is no step `{target}` in this plan{close}"));
            } else if step.id() == Some(target) {
                report.add(at, rule::BINDING_WITHOUT_DEPENDENCY, format!("step `{target}` is bound to itself"));
            } else if !reach.has(step, target) {
                let message = format!(
                    "bound to step `{target}` without depending on it; add it to `depends_on`, or leave `depends_on` out"
                );
                report.add(at, rule::BINDING_WITHOUT_DEPENDENCY, message);
            }
        }
    }
}

type BindingAt = (String, Result<bindings::Reference, bindings::InvalidBinding>);

/// Returns the bindings in a step's `payload` and `hashes`, with pointers into the plan.
fn step_bindings(step: &StepFields<'_>) -> Vec<BindingAt> {
    let payload = step.get("payload").map(|payload| (step.pointer("payload"), payload));
    let hashes = step.hashes().map(|(name, value)| (child(&step.pointer("hashes"), name), value));
    let found = |(at, value): (String, &Value)| {
        bindings::binding_locations(value)
            .into_iter()
            .map(move |place| (format!("{at}{}", place.at), place.binding))
            .collect()
    };
    payload.into_iter().chain(hashes).flat_map(|place| -> Vec<BindingAt> { found(place) }).collect()
}

fn template(step: &StepFields<'_>, report: &mut ViolationReport) {
    let Some(Ok(template)) = step.text("idempotency_template").map(Template::parse) else { return };
    let payload = step.get("payload").and_then(Value::as_object);
    // If the payload itself is a binding, its fields are unknown until the binding is resolved.
    let payload = payload.filter(|fields| !fields.contains_key("$ref") && !fields.contains_key("$outcome"));
    let fields = payload.into_iter().flat_map(|fields| fields.keys());
    let known: Vec<&str> = fields.chain(step.hashes().map(|(name, _)| name)).map(String::as_str).collect();
    let mut names = template.names().to_vec();
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| !known.contains(name)) {
        let close = did_you_mean(name, known.iter().copied());
        let message = format!("`{{{name}}}` is neither a field of the payload nor an entry of `hashes`{close}");
        report.add(step.pointer("idempotency_template"), rule::TEMPLATE_UNKNOWN_NAME, message);
    }
}
