//! What is constant for a job.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PayloadRef;
use crate::ids::{Hash, JobId, Operator, StepId};
use crate::manifest::Pinned;
use crate::policy::Rules;

/// How a job is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// Computes, changes nothing.
    DryRun,
    /// No external write or send.
    DraftOnly,
    /// External writes and sends are approved by a person.
    #[default]
    HumanGated,
    /// The mode's own gates are dropped.
    AutoExec,
}

impl Mode {
    /// Each of them.
    pub const ALL: [Mode; 4] = [Mode::DryRun, Mode::DraftOnly, Mode::HumanGated, Mode::AutoExec];

    /// The word in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::DryRun => "DRY_RUN",
            Mode::DraftOnly => "DRAFT_ONLY",
            Mode::HumanGated => "HUMAN_GATED",
            Mode::AutoExec => "AUTO_EXEC",
        }
    }
}

/// What is constant for a job: stored once, in its first event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The job.
    pub job_id: JobId,
    /// Whose house.
    pub tenant_id: String,
    /// Who asked.
    pub actor_id: String,
    /// The whole request across systems.
    pub correlation_id: String,
    /// W3C trace id.
    pub trace_id: String,
    /// What was asked for.
    pub intent_type: String,
    /// Identity of the request (§6).
    pub request_key: Hash,
    /// How it is executed.
    pub mode: Mode,
    /// Seed of every step's random numbers.
    pub job_seed: Hash,
    /// Digest of the engine profile for steps.
    pub engine_profile: Hash,
    /// Steps that were approved when the job was submitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing_approvals: Vec<StepId>,
    /// What came with the request beside its payload, where anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<PayloadRef>,
    /// The values of the plan's parameters, where it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<PayloadRef>,
    /// The policy in force when the job was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<AcceptedPolicy>,
    /// The tenant's rules when it was accepted: later ones can only narrow them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// The operators it may reach.
    pub operators: BTreeMap<Operator, Pinned>,
}

/// Names a policy: what it said is in [`Header::rules`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedPolicy {
    /// SHA-256 of its canonical form: part of the request key.
    pub hash: Hash,
    /// The number its author gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}
