//! Resolves the inputs of a step: its payload, and the named inputs of its idempotency template.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::encoding::canon;
use crate::model::error::{Code, Failure};
use crate::model::ids::Hash;
use crate::model::keys;
use crate::plan;
use crate::plan::bindings::Reference;
use crate::plan::{bindings, context_name};
use crate::state::{Durable, label};

/// Returns the function that finds the bytes to which a binding of this job refers.
pub(crate) fn binding_lookup<'a>(durable: &'a Durable) -> impl Fn(&Reference) -> Option<Cow<'a, [u8]>> {
    |reference| match reference {
        Reference::Output { .. } if durable.job.plan.reads_parameters(reference) => {
            Some(Cow::Owned(durable.payloads.get(label::PARAMETERS)?.to_vec()))
        }
        Reference::Output { step, .. } => Some(Cow::Owned(durable.output(step)?.to_vec())),
        Reference::Outcome { step } => {
            // A copied outcome keeps the ID that it has in the original job.
            let copied = durable.job.step(step).filter(|step| step.copied.is_some());
            let id = copied.and_then(|step| step.outcome.as_ref()).map(|outcome| outcome.id.clone());
            let id = id.unwrap_or_else(|| crate::decide::outcome_id(&durable.job.header.job_id, step));
            Some(Cow::Owned(id.into_bytes()))
        }
    }
}

/// Returns the key that the step's `idempotency_template` yields, or `None` for a step without a template. The
/// key is an action key if the step changes the world, otherwise a cache key. `input` is the resolved payload.
pub(crate) fn template_key(
    durable: &Durable,
    planned: &plan::PlanStep,
    input: &Value,
) -> Result<Option<Hash>, Failure> {
    let Some(template) = &planned.idempotency_template else { return Ok(None) };
    let hashes = hashes(durable, planned)?;
    keys::action_key(template, input, &hashes)
        .map(Some)
        .map_err(|unknown| Failure::new(Code::InvalidInput, unknown.to_string()))
}

fn hashes(durable: &Durable, planned: &plan::PlanStep) -> Result<BTreeMap<String, Value>, Failure> {
    planned
        .hashes
        .iter()
        .map(|(name, value)| {
            let value = match context_name(value) {
                Some(context) => Value::String(context_hash(durable, context)?.to_hex()),
                None => bindings::resolve(value, &binding_lookup(durable))?,
            };
            Ok((name.clone(), value))
        })
        .collect()
}

/// Returns the hash of a context's canonical form. The template gets the hash, because a context may be large.
fn context_hash(durable: &Durable, name: &str) -> Result<Hash, Failure> {
    let kept = durable.payloads.get(label::CONTEXTS).map(|bytes| serde_json::from_slice::<Vec<Value>>(bytes));
    let contexts = kept.and_then(Result::ok).unwrap_or_default();
    let named = contexts.iter().find(|context| context.get("name").and_then(Value::as_str) == Some(name));
    let context = named.ok_or_else(|| {
        Failure::new(Code::MissingRequiredContext, format!("the request came without a context named {name:?}"))
    })?;
    Ok(Hash::of(&[&canon::value_to_canonical(context)]))
}
