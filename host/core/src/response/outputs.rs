//! Outputs of the steps of a job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::model::ids::StepId;
use crate::plan::Plan;
use crate::state::Durable;

/// Returns the output of each step as a JSON value. Steps without an output are omitted.
pub(super) fn outputs(durable: &Durable) -> BTreeMap<StepId, Value> {
    let steps = durable.job.steps.iter();
    steps.filter_map(|step| Some((step.id.clone(), value(durable.output(&step.id)?)))).collect()
}

/// Parses an output as JSON. Bytes that are not JSON are shown as text.
fn value(bytes: Arc<[u8]>) -> Value {
    serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns the steps on which no other step depends, in the order of the plan. Their outputs are the result of
/// the job.
pub fn last_steps(plan: &Plan) -> Vec<StepId> {
    let needed: BTreeSet<&StepId> = plan.steps.iter().flat_map(|step| &step.depends_on).collect();
    plan.steps.iter().map(|step| &step.step_id).filter(|id| !needed.contains(id)).cloned().collect()
}
