//! Safe reuse (§10): rules for using an earlier result instead of executing a step.
//!
//! [`decide`] applies all rules. Its result depends only on the requirements of the step and on the earlier result.
//!
//! These rules never reuse the result of a world-changing step. Such a step may have an action key. If an earlier call
//! already performed the action, the action key gives the step the receipt of that call.

use semver::{Version, VersionReq};
use serde_json::{Value, json};

use crate::encoding::canon;
use crate::model::effect::Provenance;
use crate::model::ids::{Hash, JobId, Operator, StepId};
use crate::model::manifest::{Determinism, EffectKind, PinnedOperator};
use crate::model::mode::Mode;
use crate::model::result_type::ResultType;
use crate::model::reuse_reason::ReuseReason;
use crate::model::rules::Rules;
use crate::plan::{CachePolicy, PlanGate, PlanStep};
use crate::rules::policy;

/// Words that make an outcome type reusable, as in `Email.Draft` and `Review.Text`.
const REUSABLE_TYPE_WORDS: [&str; 4] = ["draft", "review", "summary", "alignment"];

/// A result that later jobs may reuse. The store keeps one row for each such result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReusableResult {
    /// Tenant that owns the result.
    pub tenant_id: String,
    /// Operator that produced the result.
    pub operator: Operator,
    /// Hash of the input of the result: see [`input_hash`].
    pub input_hash: Hash,
    /// Job that produced the result.
    pub job_id: JobId,
    /// Step that produced the result.
    pub step_id: StepId,
    /// Type of the outcome. `None` if the result is not an outcome.
    pub outcome_type: Option<String>,
    /// Sensitivity of the outcome, which limits its readers.
    pub sensitivity: Option<String>,
    /// Digest of the component that produced the result.
    pub digest: Hash,
    /// Version of the plugin that produced the result.
    pub version: String,
    /// Hash of the policy decisions about the step: see [`policy_decision`].
    pub policy: Hash,
    /// Effect that the step had on the world when it produced the result.
    pub result_type: ResultType,
    /// True if the output contains `"verified": true`.
    pub is_verified: bool,
    /// Provenance of the result: `PersonDecision` if a person decided any call of the step, otherwise `Executed`.
    pub provenance: Provenance,
    /// SHA-256 of the output.
    pub output_hash: Hash,
    /// Time at which the result was produced, microseconds since 1970 UTC.
    pub time_us: i64,
}

/// Requirements of a step for an earlier result. The requirements come from the plan, the operator and the current
/// rules.
#[derive(Clone, Debug)]
pub struct ReuseQuery<'a> {
    /// The step in the plan.
    pub planned: &'a PlanStep,
    /// Pinned data of the step's operator.
    pub operator: &'a PinnedOperator,
    /// Hash of the step's input: see [`input_hash`].
    pub input_hash: Hash,
    /// Hash of the policy decisions about the step: see [`policy_decision`].
    pub policy: Hash,
    /// True if the step itself needs approval.
    pub is_gated: bool,
    /// Current event time, microseconds since 1970 UTC.
    pub now_us: i64,
}

/// Returns true if the plan and the operator allow an earlier result to replace the execution of the step. This check
/// reads no earlier result, so the result that is found may still be refused.
pub fn is_candidate(planned: &PlanStep, operator: &PinnedOperator) -> bool {
    let changes = |effects: &[EffectKind]| effects.iter().any(|effect| effect.is_world_changing());
    planned.cache_policy != CachePolicy::Never
        && planned.idempotency_template.is_some()
        && !changes(&operator.effects)
        && outcome_type(planned, operator).is_none_or(is_reusable_type)
}

/// Returns the type of the outcome that a step produces.
pub fn outcome_type<'a>(planned: &'a PlanStep, operator: &'a PinnedOperator) -> Option<&'a str> {
    let of_plan = planned.outcome.as_ref().map(|outcome| outcome.outcome_type.as_str());
    of_plan.or(operator.outcome_type.as_deref())
}

/// Decides whether the earlier result `found` may be reused. Returns the reason for the reuse.
///
/// # Errors
/// Returns the first violated rule as the reason for not reusing the result.
pub fn decide(wanted: &ReuseQuery<'_>, found: &ReusableResult) -> Result<ReuseReason, ReuseReason> {
    let ReuseQuery { planned, operator, .. } = wanted;
    let refuse = |broken: bool, reason: ReuseReason| if broken { Err(reason) } else { Ok(()) };
    let sensitivity = planned.outcome.as_ref().and_then(|outcome| outcome.sensitivity.as_deref());
    let changed = !matches!(found.result_type, ResultType::Pure | ResultType::Success);
    refuse(changed || operator.is_world_changing(), ReuseReason::WorldChanging)?;
    let kind = outcome_type(planned, operator);
    refuse(kind.is_some_and(|kind| !is_reusable_type(kind)), ReuseReason::OutcomeType)?;
    refuse(kind != found.outcome_type.as_deref(), ReuseReason::OutcomeType)?;
    refuse(sensitivity != found.sensitivity.as_deref(), ReuseReason::Sensitivity)?;
    refuse(wanted.is_gated, ReuseReason::Gated)?;
    refuse(wanted.policy != found.policy, ReuseReason::Policy)?;
    refuse(wanted.input_hash != found.input_hash, ReuseReason::Input)?;
    refuse(!is_allowed_version(planned, operator, found), ReuseReason::PluginVersion)?;
    let ttl = match planned.cache_policy {
        CachePolicy::Ttl { ttl_seconds } => Some(i64::from(ttl_seconds) * 1_000_000),
        CachePolicy::UseIfSafe | CachePolicy::Never => None,
    };
    let is_external = operator.determinism == Determinism::External;
    refuse(planned.cache_policy == CachePolicy::Never, ReuseReason::NoTtl)?;
    refuse((is_external || planned.time_sensitive) && ttl.is_none(), ReuseReason::NoTtl)?;
    refuse(ttl.is_some_and(|ttl| wanted.now_us.saturating_sub(found.time_us) > ttl), ReuseReason::TooOld)?;
    refuse(planned.time_sensitive && !found.is_verified, ReuseReason::Unverified)?;
    refuse(is_external && found.provenance == Provenance::PersonDecision, ReuseReason::Provenance)?;
    Ok(if ttl.is_some() { ReuseReason::WithinTtl } else { ReuseReason::Safe })
}

/// Returns the hash of the step's template key and its resolved input. Equal hashes mean equal inputs.
pub fn input_hash(template_key: Hash, canonical_input: &[u8]) -> Hash {
    Hash::of(&[b"reuse\0", &template_key.0, canonical_input])
}

/// Returns the hash of all policy decisions about this step. Two policies that decide equally about the step have
/// equal hashes, even if they differ elsewhere.
pub fn policy_decision(rules: &Rules, mode: Mode, planned: &PlanStep, operator: &PinnedOperator) -> Hash {
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
    let is_gated = policy::needs_gate(rules, mode, planned, operator, true) || planned.gate == PlanGate::HumanConfirm;
    let mut decisions = json!({ "effects": effects, "forbidden": forbidden, "gated": is_gated });
    if let Some(demands) = rules.require.get(&planned.name) {
        // Results with the key `require` come from versions that did not hold the requirement for every operator.
        decisions["required"] = json!(demands);
    }
    Hash::of(&[b"policy\0", &canon::value_to_canonical(&decisions)])
}

/// Returns true if the output contains `"verified": true` at its top level.
pub fn is_marked_verified(output: &[u8]) -> bool {
    serde_json::from_slice::<Value>(output).is_ok_and(|value| value.get("verified") == Some(&Value::Bool(true)))
}

fn is_reusable_type(kind: &str) -> bool {
    kind.split('.').any(|word| REUSABLE_TYPE_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Returns true if the plan allows the version of the earlier result. Without a version range, only the
/// identical component is allowed.
fn is_allowed_version(planned: &PlanStep, operator: &PinnedOperator, found: &ReusableResult) -> bool {
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
