//! Access to the well-formed parts of a step, for rules that check more than the shape of a single value.

use serde_json::{Map, Value};

use crate::model::ids::StepId;

/// One step of a plan that may be partly invalid.
pub(super) struct StepFields<'a> {
    /// JSON pointer to the step.
    pub(super) at: String,
    fields: &'a Map<String, Value>,
    written: &'a Map<String, Value>,
}

impl<'a> StepFields<'a> {
    /// Returns the steps of an expanded plan, each with the fields that the plan's text states. Items that are not
    /// objects are skipped.
    pub(super) fn of_plan(written: &'a Value, expanded: &'a Value) -> Vec<Self> {
        let steps = |plan: &'a Value| plan.get("steps").and_then(Value::as_array).into_iter().flatten();
        let both = steps(expanded).zip(steps(written)).enumerate();
        both.filter_map(|(index, (step, written))| {
            Some(StepFields { at: format!("/steps/{index}"), fields: step.as_object()?, written: written.as_object()? })
        })
        .collect()
    }

    /// Returns true if the plan's text states the key. A value filled by expansion does not count.
    pub(super) fn is_stated(&self, key: &str) -> bool {
        self.written.contains_key(key)
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key)
    }

    /// Returns the value of a key if it is a string.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// Returns the pointer to the value of a key.
    pub(super) fn pointer(&self, key: &str) -> String {
        format!("{}/{key}", self.at)
    }

    /// Returns the step's id if it is well formed.
    pub(super) fn id(&self) -> Option<&'a str> {
        self.text("step_id").filter(|id| StepId::is_valid(id))
    }

    /// Returns the well-formed ids in `depends_on`, with their indexes.
    pub(super) fn depends_on(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let items = self.get("depends_on").and_then(Value::as_array).into_iter().flatten().enumerate();
        items.filter_map(|(index, item)| Some((index, item.as_str().filter(|id| StepId::is_valid(id))?)))
    }

    /// Returns the entries of `hashes`.
    pub(super) fn hashes(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.get("hashes").and_then(Value::as_object).into_iter().flatten()
    }
}
