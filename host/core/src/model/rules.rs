//! Policy rules of a tenant that apply to a job.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::answer_requirement::{AnswerRequirement, narrow};
use crate::model::auto_exec::AutoExec;
use crate::model::ids::Operator;
use crate::model::manifest::EffectKind;
use crate::model::mode::Mode;
use crate::model::person::Assurance;

/// Rules of a tenant that apply to one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Modes in which jobs may run. A job is accepted only in a mode of this list. The rules recorded with a job omit
    /// the list, because they need not restrict the mode again.
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
    /// Assurance that an approval must have.
    #[serde(skip_serializing_if = "Assurance::is_claimed")]
    pub gate_approvals: Assurance,
    /// Spending limits of the tenant's jobs.
    #[serde(skip_serializing_if = "crate::model::budget::Budget::is_unlimited")]
    pub budget: crate::model::budget::Budget,
    /// Settings under which trusted actors may make calls without approval.
    #[serde(skip_serializing_if = "AutoExec::is_off")]
    pub auto_exec: AutoExec,
    /// Fields that the answers of operators must contain, by operator.
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
            gate_approvals: Assurance::Claimed,
            budget: crate::model::budget::Budget::default(),
            auto_exec: AutoExec::default(),
            require: BTreeMap::new(),
        }
    }
}

impl Rules {
    /// Returns rules that allow only operations that both `self` and `other` allow. `other` contains the rules under
    /// which the job was accepted.
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
        self.gate_approvals = self.gate_approvals.max(other.gate_approvals);
        self.budget = self.budget.narrowed_by(other.budget);
        self.auto_exec = self.auto_exec.narrowed_by(&other.auto_exec);
        narrow(&mut self.require, &other.require);
        self
    }
}

/// Default time after which an undecided gate expires: 72 hours, in milliseconds.
pub const GATE_EXPIRES_MS: u32 = 72 * 60 * 60 * 1_000;
