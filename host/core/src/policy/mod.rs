//! Policy: the calls that a tenant and an execution mode allow. A policy narrows a plan and never widens it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Failure};
use crate::event::Mode;
use crate::ids::Operator;
use crate::manifest::{EffectKind, PinnedOperator, PluginKind};
use crate::plan;

mod require;
mod trust;

pub use require::{AnswerRequirement, refuse_unmet, refuse_unverifiable};
pub use trust::{AutoExec, TRUST_MAX};

/// Default time after which an undecided gate expires: 72 hours, in milliseconds.
pub const GATE_EXPIRES_MS: u32 = 72 * 60 * 60 * 1_000;

/// Rules of a tenant that apply to one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Modes in which jobs may run. The rules recorded with a job omit this list. The list contained the job's mode
    /// when the job was accepted.
    #[serde(skip)]
    pub modes: Vec<Mode>,
    /// Effects that always need a gate.
    pub gate_effects: Vec<EffectKind>,
    /// Policy tags that always need a gate.
    pub gate_tags: Vec<String>,
    /// True if approvals that are given with the submission of a job are valid.
    pub standing_approvals: bool,
    /// Time after which an undecided gate expires, in milliseconds.
    pub gate_expires_ms: u32,
    /// Number of different people who must approve a gate.
    pub gate_quorum: u32,
    /// True if the actor that submitted the job may approve its calls.
    pub self_approve: bool,
    /// True if an approval must state a reason.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gate_reason: bool,
    /// Spending limits of the tenant's jobs.
    #[serde(skip_serializing_if = "crate::cost::Budget::is_unlimited")]
    pub budget: crate::cost::Budget,
    /// Settings under which trusted actors may make calls without approval.
    #[serde(skip_serializing_if = "AutoExec::is_off")]
    pub auto_exec: AutoExec,
    /// Fields that the answers of external operators must contain, by operator.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub require: BTreeMap<Operator, Vec<AnswerRequirement>>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            modes: Mode::ALL.to_vec(),
            gate_effects: Vec::new(),
            gate_tags: Vec::new(),
            standing_approvals: false,
            gate_expires_ms: GATE_EXPIRES_MS,
            gate_quorum: 1,
            self_approve: true,
            gate_reason: false,
            budget: crate::cost::Budget::default(),
            auto_exec: AutoExec::default(),
            require: BTreeMap::new(),
        }
    }
}

impl Rules {
    /// Returns rules that allow only what both `self` and `other` allow. `other` contains the rules under which
    /// the job was accepted.
    pub fn narrowed_by(mut self, other: &Rules) -> Rules {
        self.modes.retain(|mode| other.modes.contains(mode));
        self.gate_effects.extend(&other.gate_effects);
        self.gate_effects.sort_unstable();
        self.gate_effects.dedup();
        self.gate_tags.extend(other.gate_tags.iter().cloned());
        self.gate_tags.sort_unstable();
        self.gate_tags.dedup();
        self.standing_approvals &= other.standing_approvals;
        self.gate_expires_ms = self.gate_expires_ms.min(other.gate_expires_ms);
        self.gate_quorum = self.gate_quorum.max(other.gate_quorum);
        self.self_approve &= other.self_approve;
        self.gate_reason |= other.gate_reason;
        self.budget = self.budget.narrowed_by(other.budget);
        self.auto_exec = self.auto_exec.narrowed_by(&other.auto_exec);
        require::narrow(&mut self.require, &other.require);
        self
    }
}

/// Returns true if a person must approve this invocation.
///
/// `own` is true if the invocation is the plan step itself, and false for a call inside the step.
pub fn needs_gate(rules: &Rules, mode: Mode, step: &plan::Step, operator: &PinnedOperator, own: bool) -> bool {
    let of_plan = own && step.gate == plan::Gate::HumanConfirm;
    let of_tags = own && step.policy_tags.iter().any(|tag| rules.gate_tags.contains(tag));
    // A step plugin causes effects only through its calls. These calls have their own gates, so the effects
    // that a step plugin declares need no gate here.
    let effects: &[EffectKind] = if operator.kind == PluginKind::Tool { &operator.effects } else { &[] };
    let of_mode = mode == Mode::HumanGated && effects.iter().any(|effect| effect.is_external());
    let of_effects = effects.iter().any(|effect| effect.is_world_changing() && rules.gate_effects.contains(effect));
    of_plan || of_tags || of_mode || of_effects
}

/// Returns the reason why this invocation may never be executed in this mode, if there is one.
pub fn forbids(mode: Mode, step: &plan::Step, operator: &PinnedOperator) -> Option<Failure> {
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

/// Returns a failure if the call would change the world and the current rules no longer list the job's mode.
/// Such a call is not started.
pub fn refuse_withdrawn_mode(rules: &Rules, mode: Mode, operator: &PinnedOperator) -> Option<Failure> {
    let is_withdrawn =
        operator.kind == PluginKind::Tool && operator.is_world_changing() && !rules.modes.contains(&mode);
    let message = || format!("the policy allows no job in {} any more", mode.as_str());
    is_withdrawn.then(|| Failure::new(Code::ModeForbids, message()))
}

/// Returns true if `declared` covers `effect`. A world-changing effect is covered only if `declared` contains
/// it. Other effects are always covered.
pub fn covers(declared: &[EffectKind], effect: EffectKind) -> bool {
    match effect {
        EffectKind::ProduceOutcome => true,
        EffectKind::ReadOnly => true,
        _ => declared.contains(&effect),
    }
}
