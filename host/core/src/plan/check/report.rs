//! List of violations, sorted by position in the text at the end.

use super::Violation;
use super::position::Positions;

macro_rules! rules {
    ($($name:ident = $code:literal, $title:literal;)*) => {
        /// Rule codes by name.
        pub(super) mod rule {
            $(pub(in crate::plan) const $name: &str = $code;)*
        }
        /// Rules that the check of a request's parameter values applies.
        pub(in crate::plan) mod parameter_rule {
            pub(in crate::plan) use super::rule::{MISSING_PARAMETER, UNKNOWN_PARAMETER, WRONG_PARAMETER};
        }
        /// Code of violations about contexts named in entries of `hashes`.
        pub const CONTEXT_RULE: &str = rule::UNKNOWN_CONTEXT;
        /// Every plan rule: its stable code and its requirement.
        pub const RULES: &[(&str, &str)] = &[$(($code, $title)),*];
    };
}

rules! {
    NOT_JSON = "P001", "A plan is unambiguous JSON: no duplicate keys, no inexact integers, at most 64 levels.";
    TOO_LARGE = "P002", "A plan has at most 1 MiB.";
    WRONG_VALUE = "P003", "Every value has the type, word or range that its key requires.";
    MISSING_KEY = "P004", "Keys without a default are present: `steps`, and `step_id` and `name` of each step.";
    UNKNOWN_KEY = "P005", "There are no undocumented keys.";
    BAD_STEP_ID = "P006", "A step_id has 1 to 64 characters from A-Z, a-z, 0-9, `_` and `-`.";
    DUPLICATE_STEP_ID = "P007", "No two steps have the same step_id.";
    BAD_VERSION = "P008", "The schema_version is supported by this version.";
    NO_STEPS = "P009", "A plan has at least one step.";
    TOO_MANY_STEPS = "P010", "A plan has at most 1000 steps.";
    UNKNOWN_OPERATOR = "P012", "A step's operator is served by a loaded plugin.";
    UNKNOWN_DEPENDENCY = "P013", "A step depends only on steps of its plan.";
    SELF_DEPENDENCY = "P014", "A step does not depend on itself.";
    CYCLE = "P015", "Dependencies form no cycle.";
    BAD_BINDING = "P016", "A binding is `{\"$ref\": \"s1#/field\"}` or `{\"$outcome\": \"s1\"}` and nothing else.";
    BINDING_UNKNOWN_STEP = "P017", "A binding names a step of the plan.";
    BINDING_WITHOUT_DEPENDENCY = "P018", "A step depends, directly or transitively, on each step to which it is bound.";
    EFFECTS_TOO_NARROW = "P019", "A step's effects cover its operator's.";
    BAD_TEMPLATE = "P020", "The braces of an idempotency_template are balanced.";
    TEMPLATE_UNKNOWN_NAME = "P021", "A template names payload fields or entries of `hashes`.";
    UNSAFE_REUSE = "P022", "Answers of an external operator are reused for a stated time or not at all.";
    BAD_COMPENSATION = "P023", "`compensate_with` names a loaded tool, or `self` on a tool.";
    BAD_TIMEOUT = "P024", "A timeout is a whole number of ms, s, m or h, from 1ms to 24h.";
    DUPLICATE_ITEM = "P025", "A set has no duplicate items.";
    BAD_VERSION_RANGE = "P026", "A version range consists of comparisons separated by commas: `>=1.2, <2`.";
    UNKNOWN_CONTEXT = "P027", "An entry of `hashes` names a context that comes with the request.";
    BAD_PROMPT = "P028", "An llm step has either messages or a prompt.";
    NOT_A_MODEL = "P029", "An llm step's operator is a tool of the class `stable`.";
    BAD_WAIT = "P030", "A wait states its condition with the keys of its kind.";
    DUPLICATE_CORRELATION_KEY = "P031", "No two waits have the same correlation_key.";
    BAD_WAIT_TIME = "P032", "A wait's times are a number of ms, s, m, h or d, or a time such as 2026-01-31T09:00:00Z.";
    WAIT_HAS_NONE = "P033", "A wait executes nothing: it has no effects, gate, retry, timeout, compensation or reuse.";
    UNDO_NOT_COVERED = "P034", "A step's effects cover those of the operator that compensates it.";
    CANNOT_UNDO = "P035", "A compensating operator changes the world; for `self`, the step's plugin exports `compensate`.";
    REUSE_WITHOUT_TEMPLATE = "P036", "A step whose result may be reused has an `idempotency_template`.";
    BAD_PARAMETERS = "P037", "`parameters` is a self-contained JSON Schema of an object, of bounded size.";
    UNKNOWN_PARAMETER = "P038", "Bindings to `intent` and values of a request name parameters that the plan declares.";
    WRONG_PARAMETER = "P039", "The value of a parameter and its default match the schema.";
    MISSING_PARAMETER = "P040", "Each parameter that is required, or that a step reads, has a value.";
}

/// Violations found so far.
#[derive(Debug, Default)]
pub(super) struct ViolationReport {
    found: Vec<(String, &'static str, String)>,
}

impl ViolationReport {
    /// Adds a violation of rule `code` by the value at `pointer`.
    pub(super) fn add(&mut self, pointer: impl Into<String>, code: &'static str, message: impl Into<String>) {
        self.found.push((pointer.into(), code, message.into()));
    }

    /// Adds the violations found in the value at `prefix`.
    pub(super) fn add_nested(&mut self, prefix: &str, inner: ViolationReport) {
        self.found.extend(inner.found.into_iter().map(|(at, code, message)| (format!("{prefix}{at}"), code, message)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the violations sorted by position in the text, then by pointer, code and message.
    pub(super) fn into_violations(self, text: &[u8]) -> Vec<Violation> {
        let positions = Positions::of(text);
        let mut found: Vec<_> = self
            .found
            .into_iter()
            .map(|(pointer, code, message)| (positions.offset(&pointer), pointer, code, message))
            .collect();
        found.sort();
        found.dedup();
        found
            .into_iter()
            .map(|(offset, pointer, code, message)| {
                let (line, column) = positions.line_column(offset);
                Violation { pointer, code, message, line, column }
            })
            .collect()
    }
}
