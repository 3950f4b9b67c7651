//! What a tenant and a mode allow. Policy narrows a plan and never widens it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Failure};
use crate::event::Mode;
use crate::ids::Operator;
use crate::manifest::{Effect, Pinned, PluginKind};
use crate::plan;

mod require;
mod trust;

pub use require::{Demand, unmet, unverifiable};
pub use trust::{AutoExec, TRUST_MAX};

/// Time after which an undecided gate expires where nothing else is said, in milliseconds: 72 h.
pub const GATE_EXPIRES_MS: u32 = 72 * 60 * 60 * 1_000;

/// A tenant's rules, as far as they concern one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Modes that its jobs may run in. A job's own was among them when it was accepted: what is
    /// recorded with a job leaves them out.
    #[serde(skip)]
    pub modes: Vec<Mode>,
    /// Effects that are always gated.
    pub gate_effects: Vec<Effect>,
    /// Policy tags that are always gated.
    pub gate_tags: Vec<String>,
    /// Whether approvals given with the submission count.
    pub standing_approvals: bool,
    /// Time after which an undecided gate expires, in milliseconds.
    pub gate_expires_ms: u32,
    /// How many different people have to approve.
    pub gate_quorum: u32,
    /// Whether the one who asked for the job may approve its calls.
    pub self_approve: bool,
    /// Whether an approval has to say why.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gate_reason: bool,
    /// What its jobs may spend.
    #[serde(skip_serializing_if = "crate::cost::Budget::is_unlimited")]
    pub budget: crate::cost::Budget,
    /// Who may act without being asked.
    #[serde(skip_serializing_if = "AutoExec::is_off")]
    pub auto_exec: AutoExec,
    /// What answers of external operators must carry.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub require: BTreeMap<Operator, Vec<Demand>>,
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
    /// What both allow: the rules of a job that was accepted under `other`.
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

/// Whether a person has to approve this invocation.
///
/// `own` is whether the invocation is the plan step itself rather than a call inside it.
pub fn needs_gate(rules: &Rules, mode: Mode, step: &plan::Step, operator: &Pinned, own: bool) -> bool {
    let of_plan = own && step.gate == plan::Gate::HumanConfirm;
    let of_tags = own && step.policy_tags.iter().any(|tag| rules.gate_tags.contains(tag));
    // What a step plugin's operator declares it may cause is gated where it is caused: at its calls.
    let effects: &[Effect] = if operator.kind == PluginKind::Tool { &operator.effects } else { &[] };
    let of_mode = mode == Mode::HumanGated && effects.iter().any(|effect| effect.is_external());
    let of_effects = effects.iter().any(|effect| effect.is_world_changing() && rules.gate_effects.contains(effect));
    of_plan || of_tags || of_mode || of_effects
}

/// Why this invocation may not be executed at all, if so.
pub fn forbids(mode: Mode, step: &plan::Step, operator: &Pinned) -> Option<Failure> {
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

/// Why a call is not begun that would change the world in a mode that the rules list no longer.
pub fn withdrawn(rules: &Rules, mode: Mode, operator: &Pinned) -> Option<Failure> {
    let is_withdrawn =
        operator.kind == PluginKind::Tool && operator.is_world_changing() && !rules.modes.contains(&mode);
    let message = || format!("the policy allows no job in {} any more", mode.as_str());
    is_withdrawn.then(|| Failure::new(Code::ModeForbids, message()))
}

/// Whether a declaration covers an effect: world-changing ones by name only.
pub fn covers(declared: &[Effect], effect: Effect) -> bool {
    match effect {
        Effect::ProduceOutcome => true,
        Effect::ReadOnly => true,
        _ => declared.contains(&effect),
    }
}
