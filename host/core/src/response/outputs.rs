//! What the steps of a job returned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::ids::StepId;
use crate::plan::Plan;
use crate::state::Durable;

/// The output of each step that has one, as a JSON value.
pub(super) fn outputs(durable: &Durable) -> BTreeMap<StepId, Value> {
    let steps = durable.job.steps.iter();
    steps.filter_map(|step| Some((step.id.clone(), value(durable.output(&step.id)?)))).collect()
}

/// Steps return JSON. Bytes that are none all the same are shown as text.
fn value(bytes: Arc<[u8]>) -> Value {
    serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The steps that no other step depends on, in the order of the plan: what they return is the result of the job.
pub fn last_steps(plan: &Plan) -> Vec<StepId> {
    let needed: BTreeSet<&StepId> = plan.steps.iter().flat_map(|step| &step.depends_on).collect();
    plan.steps.iter().map(|step| &step.step_id).filter(|id| !needed.contains(id)).cloned().collect()
}
