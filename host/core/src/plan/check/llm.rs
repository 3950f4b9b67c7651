//! Rules about llm steps, which call a model. The payload of an llm step is `{messages | prompt, model, params}`. Its
//! operator is a tool with the determinism `stable`.

use serde_json::Value;

use super::report::{ViolationReport, rule};
use super::values::{Key, object, one_of_words, wrong};
use super::view::StepFields;
use super::{Catalog, OperatorInfo, values};
use crate::model::manifest::{Determinism, PluginKind};
use crate::plan::bindings::{Reference, child};

const PAYLOAD: &[Key] =
    &[("messages", false, messages), ("prompt", false, text), ("model", true, model), ("params", false, params)];
const MESSAGE: &[Key] = &[
    ("role", true, role),
    ("content", true, content),
    ("name", false, text),
    ("tool_call_id", false, text),
    ("tool_calls", false, list),
];
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];
/// Names that `params` must not contain. The step or the provider plugin sets the values of `model` and `messages`. The
/// other names request a streamed answer.
const NOT_PARAMS: [&str; 4] = ["model", "messages", "stream", "stream_options"];

/// Checks the payload and the operator of each llm step.
pub(super) fn check(steps: &[StepFields<'_>], catalog: &dyn Catalog, report: &mut ViolationReport) {
    for step in steps.iter().filter(|step| step.text("kind") == Some("llm")) {
        if let Some(value) = step.get("payload") {
            payload(value, &step.pointer("payload"), report);
        }
        if let Some(info) = step.text("name").and_then(|name| catalog.operator(name)) {
            provider(step, &info, report);
        }
    }
}

fn provider(step: &StepFields<'_>, info: &OperatorInfo, report: &mut ViolationReport) {
    if info.kind == PluginKind::Tool && info.determinism == Determinism::Stable {
        return;
    }
    let name = step.text("name").unwrap_or_default();
    let message = format!(
        "`{name}` does not serve a model: an llm step needs a tool of the class `stable`; use the kind `operator`"
    );
    report.add(step.pointer("name"), rule::NOT_A_MODEL, message);
}

fn payload(value: &Value, at: &str, report: &mut ViolationReport) {
    if is_binding(value) {
        return;
    }
    object(value, at, "the payload of an llm step", PAYLOAD, report);
    let Some(fields) = value.as_object() else { return };
    if fields.contains_key("messages") == fields.contains_key("prompt") {
        report.add(at, rule::BAD_PROMPT, "an llm step has either `messages` or a `prompt`");
    }
}

/// Returns true if the value is a binding. The type of the bound value is known only when the job runs.
fn is_binding(value: &Value) -> bool {
    Reference::parse(value).is_some()
}

fn text(value: &Value, at: &str, report: &mut ViolationReport) {
    if !is_binding(value) && value.as_str().is_none_or(str::is_empty) {
        wrong(at, report, "expected a non-empty string, or a binding");
    }
}

fn model(value: &Value, at: &str, report: &mut ViolationReport) {
    if !is_binding(value) {
        values::text(value, at, report);
    }
}

fn list(value: &Value, at: &str, report: &mut ViolationReport) {
    if !is_binding(value) && !value.is_array() {
        wrong(at, report, "expected an array, or a binding");
    }
}

fn messages(value: &Value, at: &str, report: &mut ViolationReport) {
    if is_binding(value) {
        return;
    }
    let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
        return wrong(at, report, "expected an array of at least one message, or a binding");
    };
    for (index, item) in items.iter().enumerate().filter(|(_, item)| !is_binding(item)) {
        object(item, &format!("{at}/{index}"), "a message", MESSAGE, report);
    }
}

fn role(value: &Value, at: &str, report: &mut ViolationReport) {
    if !is_binding(value) {
        one_of_words(value, at, &ROLES, report);
    }
}

/// Checks message content: a text, or an array of parts such as text and images.
fn content(value: &Value, at: &str, report: &mut ViolationReport) {
    if !is_binding(value) && !value.is_string() && value.as_array().is_none_or(Vec::is_empty) {
        wrong(at, report, "expected a string, an array of parts, or a binding");
    }
}

/// Checks the values of common model parameters. Other parameters are passed to the provider unchecked.
fn params(value: &Value, at: &str, report: &mut ViolationReport) {
    if is_binding(value) {
        return;
    }
    let Some(fields) = value.as_object() else {
        return wrong(at, report, "expected an object of parameters, or a binding");
    };
    for (name, field) in fields {
        let at = child(at, name);
        if NOT_PARAMS.contains(&name.as_str()) {
            report.add(at, rule::UNKNOWN_KEY, format!("{name:?} is not a parameter: the step or the host sets it"));
            continue;
        }
        let number = |min: f64, max: f64| field.as_f64().is_some_and(|number| (min..=max).contains(&number));
        let (fits, wanted) = match name.as_str() {
            "max_tokens" | "max_completion_tokens" => {
                (field.as_u64().is_some_and(|n| (1..=u64::from(u32::MAX)).contains(&n)), "a positive integer")
            }
            "temperature" => (number(0.0, 2.0), "a number from 0 to 2"),
            "top_p" => (number(0.0, 1.0), "a number from 0 to 1"),
            "n" => (field.as_u64() == Some(1), "1: a step has one answer"),
            _ => (true, ""),
        };
        if !fits && !is_binding(field) {
            wrong(&at, report, format!("expected {wanted}, or a binding"));
        }
    }
}
