//! Policy: the calls that a tenant and an execution mode allow. A policy narrows a plan and never widens it.

use crate::model::error::{Code, Failure};
use crate::model::ids::Operator;
use crate::model::manifest::{EffectKind, PinnedOperator, PluginKind};
use crate::model::mode::Mode;
use crate::model::rules::Rules;
use crate::plan;

mod require;

pub use require::{may_be_refused, refuse_unmet, refuse_unverifiable};

/// Returns true if a person must approve this invocation.
///
/// `own` is true if the invocation is the plan step itself, and false for a call inside the step.
pub fn needs_gate(rules: &Rules, mode: Mode, step: &plan::PlanStep, operator: &PinnedOperator, own: bool) -> bool {
    let of_plan = own && step.gate == plan::PlanGate::HumanConfirm;
    let of_tags = own && step.policy_tags.iter().any(|tag| rules.gate_tags.contains(tag));
    // The declared effects of a step plugin need no gate. A step plugin causes effects only through its calls, which
    // have their own gates.
    let effects: &[EffectKind] = if operator.kind == PluginKind::Tool { &operator.effects } else { &[] };
    let of_mode = mode == Mode::HumanGated && effects.iter().any(|effect| effect.is_external());
    let of_effects = effects.iter().any(|effect| effect.is_world_changing() && rules.gate_effects.contains(effect));
    of_plan || of_tags || of_mode || of_effects
}

/// Returns true if the rules let an actor call the tool in one of their modes without an approval. Gates that a plan
/// asks for do not count, because a plan need not ask for one.
pub fn may_be_ungated(rules: &Rules, name: &Operator, effects: &[EffectKind]) -> bool {
    let is_external = effects.iter().any(|effect| effect.is_external());
    let is_changing = effects.iter().any(|effect| effect.is_world_changing());
    let is_listed = effects.iter().any(|effect| effect.is_world_changing() && rules.gate_effects.contains(effect));
    rules.modes.iter().any(|mode| match mode {
        Mode::DryRun => !is_changing,
        Mode::DraftOnly | Mode::HumanGated => !is_external && !is_listed,
        Mode::AutoExec => rules.auto_exec.enabled && !is_listed && (!is_external || rules.auto_exec.may_trust(name)),
    })
}

/// Returns the reason why this invocation may never be executed in this mode, if there is one.
pub fn forbids(mode: Mode, step: &plan::PlanStep, operator: &PinnedOperator) -> Option<Failure> {
    if operator.kind != PluginKind::Tool {
        return None;
    }
    let uncovered = operator.effects.iter().find(|effect| !covers(&step.effects, **effect));
    if let Some(effect) = uncovered {
        let message = format!("step {} does not declare the effect {}", step.step_id, effect.as_str());
        return Some(Failure::new(Code::PolicyDenied, message));
    }
    if mode == Mode::DraftOnly && operator.effects.iter().any(|effect| effect.is_external()) {
        return Some(Failure::new(Code::ModeForbids, "DRAFT_ONLY forbids external writes and sends"));
    }
    None
}

/// Returns a failure if the call would change the world but the current rules no longer allow the mode of the job.
pub fn refuse_withdrawn_mode(rules: &Rules, mode: Mode, operator: &PinnedOperator) -> Option<Failure> {
    let is_withdrawn =
        operator.kind == PluginKind::Tool && operator.is_world_changing() && !rules.modes.contains(&mode);
    let message = || format!("the policy allows no job in {} any more", mode.as_str());
    is_withdrawn.then(|| Failure::new(Code::ModeForbids, message()))
}

/// Returns true if `declared` covers `effect`. A world-changing effect is covered only if `declared` contains it.
/// Reads and outcomes are always covered.
pub fn covers(declared: &[EffectKind], effect: EffectKind) -> bool {
    match effect {
        EffectKind::ProduceOutcome => true,
        EffectKind::ReadOnly => true,
        _ => declared.contains(&effect),
    }
}
