//! Safe reuse (§10): when an earlier result may stand in for executing a step.
//!
//! [`decide`] is the whole rule, as a pure function of what is wanted and what was found. What
//! left the system is never reused here: its receipt is returned by its action key instead.

use semver::{Version, VersionReq};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canon;
use crate::effect::Provenance;
use crate::event::{Mode, ResultType};
use crate::ids::{Hash, JobId, Operator, StepId};
use crate::manifest::{Determinism, Effect, Pinned};
use crate::plan::{CachePolicy, Gate, Step};
use crate::policy::{self, Rules};

/// Words of outcome types that may be reused: `Email.Draft`, `Review.Text`.
const KINDS: [&str; 4] = ["draft", "review", "summary", "alignment"];

/// A result that later jobs may reuse: one row of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reusable {
    /// Whose house.
    pub tenant_id: String,
    /// The operator that made it.
    pub operator: Operator,
    /// What it was made from: see [`input_hash`].
    pub input_hash: Hash,
    /// The job that made it.
    pub job_id: JobId,
    /// The step that made it.
    pub step_id: StepId,
    /// Type of the outcome, where it is one.
    pub outcome_type: Option<String>,
    /// Who may see it.
    pub sensitivity: Option<String>,
    /// The component that made it.
    pub digest: Hash,
    /// Its version.
    pub version: String,
    /// The policy's decisions about the step: see [`policy_decision`].
    pub policy: Hash,
    /// What making it meant for the world.
    pub result_type: ResultType,
    /// Whether it says of itself that it was verified.
    pub is_verified: bool,
    /// How its least certain part came to be known.
    pub provenance: Provenance,
    /// SHA-256 of the output.
    pub output_hash: Hash,
    /// When it was made, microseconds since 1970 UTC.
    pub time_us: i64,
}

/// Why an earlier result stands in, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Every rule of safe reuse holds.
    Safe,
    /// They hold, and it is not older than the plan allows.
    WithinTtl,
    /// It changed the world, or its step could.
    WorldChanging,
    /// Its type is none that may be reused, or not the step's.
    OutcomeType,
    /// It was made for other eyes.
    Sensitivity,
    /// The policy decides otherwise about the step now.
    Policy,
    /// It was made from another input.
    Input,
    /// It was made by a plugin outside the allowed range.
    PluginVersion,
    /// It is older than the plan allows.
    TooOld,
    /// Its facts age, and the plan states no time to live.
    NoTtl,
    /// Its facts age, and it was not verified.
    Unverified,
    /// A person's word, not an answer of the world.
    Provenance,
    /// Somebody has to approve the step itself.
    Gated,
    /// Its bytes are gone, or are not those that were recorded.
    Output,
}

/// What a step wants: the plan's word, the operator's, and the rules of now.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The step.
    pub planned: &'a Step,
    /// What the job pinned of its operator.
    pub operator: &'a Pinned,
    /// What it would be made from.
    pub input_hash: Hash,
    /// The policy's decisions about it.
    pub policy: Hash,
    /// Whether somebody has to approve it.
    pub is_gated: bool,
    /// Event time of now.
    pub now_us: i64,
}

/// Whether a step may look for an earlier result at all.
pub fn is_candidate(planned: &Step, operator: &Pinned) -> bool {
    let changes = |effects: &[Effect]| effects.iter().any(|effect| effect.is_world_changing());
    planned.cache_policy != CachePolicy::Never
        && planned.idempotency_template.is_some()
        && !changes(&operator.effects)
        && outcome_type(planned, operator).is_none_or(is_reusable_type)
}

/// Type of the outcome that a step produces.
pub fn outcome_type<'a>(planned: &'a Step, operator: &'a Pinned) -> Option<&'a str> {
    let of_plan = planned.outcome.as_ref().map(|outcome| outcome.outcome_type.as_str());
    of_plan.or(operator.outcome_type.as_deref())
}

/// Whether what was found may stand in: the first rule that is broken is the reason.
///
/// # Errors
/// The rule that is broken.
pub fn decide(wanted: &Wanted<'_>, found: &Reusable) -> Result<Reason, Reason> {
    let Wanted { planned, operator, .. } = wanted;
    let refuse = |broken: bool, reason: Reason| if broken { Err(reason) } else { Ok(()) };
    let sensitivity = planned.outcome.as_ref().and_then(|outcome| outcome.sensitivity.as_deref());
    let changed = !matches!(found.result_type, ResultType::Pure | ResultType::Success);
    refuse(changed || operator.is_world_changing(), Reason::WorldChanging)?;
    let kind = outcome_type(planned, operator);
    refuse(kind.is_some_and(|kind| !is_reusable_type(kind)), Reason::OutcomeType)?;
    refuse(kind != found.outcome_type.as_deref(), Reason::OutcomeType)?;
    refuse(sensitivity != found.sensitivity.as_deref(), Reason::Sensitivity)?;
    refuse(wanted.is_gated, Reason::Gated)?;
    refuse(wanted.policy != found.policy, Reason::Policy)?;
    refuse(wanted.input_hash != found.input_hash, Reason::Input)?;
    refuse(!is_allowed_version(planned, operator, found), Reason::PluginVersion)?;
    let ttl = match planned.cache_policy {
        CachePolicy::Ttl { ttl_seconds } => Some(i64::from(ttl_seconds) * 1_000_000),
        CachePolicy::UseIfSafe | CachePolicy::Never => None,
    };
    let is_external = operator.determinism == Determinism::External;
    refuse(planned.cache_policy == CachePolicy::Never, Reason::NoTtl)?;
    refuse((is_external || planned.time_sensitive) && ttl.is_none(), Reason::NoTtl)?;
    refuse(ttl.is_some_and(|ttl| wanted.now_us.saturating_sub(found.time_us) > ttl), Reason::TooOld)?;
    refuse(planned.time_sensitive && !found.is_verified, Reason::Unverified)?;
    refuse(is_external && found.provenance == Provenance::Operator, Reason::Provenance)?;
    Ok(if ttl.is_some() { Reason::WithinTtl } else { Reason::Safe })
}

/// What a result is made from: the key of its step's template and the resolved input.
pub fn input_hash(template_key: Hash, canonical_input: &[u8]) -> Hash {
    Hash::of(&[b"reuse\0", &template_key.0, canonical_input])
}

/// The decisions that mode and rules come to for this step: equal where they permit the same,
/// whatever else is in the rules.
pub fn policy_decision(rules: &Rules, mode: Mode, planned: &Step, operator: &Pinned) -> Hash {
    let forbidden = policy::forbids(mode, planned, operator).map(|failure| failure.code.as_str());
    let effects: Vec<Value> = planned
        .effects
        .iter()
        .filter(|effect| effect.is_world_changing())
        .map(|effect| {
            let is_forbidden = mode == Mode::DraftOnly && effect.is_external();
            let is_gated = (mode == Mode::HumanGated && effect.is_external()) || rules.gate_effects.contains(effect);
            json!([effect.as_str(), is_forbidden, is_gated])
        })
        .collect();
    let is_gated = policy::needs_gate(rules, mode, planned, operator, true) || planned.gate == Gate::HumanConfirm;
    let mut decisions = json!({ "effects": effects, "forbidden": forbidden, "gated": is_gated });
    if let Some(demands) = rules.require.get(&planned.name) {
        decisions["require"] = json!(demands);
    }
    Hash::of(&[b"policy\0", &canon::value_to_canonical(&decisions)])
}

/// Whether an output says that somebody verified it: `"verified": true` at its top.
pub fn says_verified(output: &[u8]) -> bool {
    serde_json::from_slice::<Value>(output).is_ok_and(|value| value.get("verified") == Some(&Value::Bool(true)))
}

fn is_reusable_type(kind: &str) -> bool {
    kind.split('.').any(|word| KINDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Without a range only the very same component counts.
fn is_allowed_version(planned: &Step, operator: &Pinned, found: &Reusable) -> bool {
    let Some(reuse) = &planned.reuse else {
        return found.digest == operator.digest;
    };
    let (Ok(range), Ok(version)) = (VersionReq::parse(&reuse.plugin), Version::parse(&found.version)) else {
        return false;
    };
    range.matches(&version)
}

#[cfg(test)]
mod tests;
