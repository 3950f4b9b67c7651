//! Data that is constant for a job.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PayloadRef;
use crate::ids::{Hash, JobId, Operator, StepId};
use crate::manifest::PinnedOperator;
use crate::policy::Rules;

/// Execution mode of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// The job only computes. It changes nothing outside the host.
    DryRun,
    /// External writes and sends are forbidden.
    DraftOnly,
    /// A person must approve external writes and sends.
    #[default]
    HumanGated,
    /// The mode itself requires approval for an external write or send only if the actor is not trusted with
    /// the operator. Gates of the plan and of the policy still apply.
    AutoExec,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 4] = [Mode::DryRun, Mode::DraftOnly, Mode::HumanGated, Mode::AutoExec];

    /// Returns the name of the mode in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::DryRun => "DRY_RUN",
            Mode::DraftOnly => "DRAFT_ONLY",
            Mode::HumanGated => "HUMAN_GATED",
            Mode::AutoExec => "AUTO_EXEC",
        }
    }
}

/// Data that is constant for a job. It is stored once, in the first event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job.
    pub tenant_id: String,
    /// Actor that submitted the job.
    pub actor_id: String,
    /// Correlation id of the job, for use in other systems. A fork has the same id as its original job.
    pub correlation_id: String,
    /// W3C trace id.
    pub trace_id: String,
    /// Type of the intent.
    pub intent_type: String,
    /// Request key: the identity of the request (§6).
    pub request_key: Hash,
    /// Execution mode.
    pub mode: Mode,
    /// Seed of the random numbers of every step.
    pub job_seed: Hash,
    /// Digest of the engine's settings for steps when the job was accepted.
    pub engine_profile: Hash,
    /// Steps that were approved at submission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing_approvals: Vec<StepId>,
    /// Contexts that came with the request, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<PayloadRef>,
    /// Values of the plan's parameters, if the plan has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<PayloadRef>,
    /// The policy in force when the job was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<AcceptedPolicy>,
    /// The tenant's rules when the job was accepted. Rules that the tenant sets later can restrict the job
    /// further but never allow more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// Operators that the job may call, each with its pinned plugin.
    pub operators: BTreeMap<Operator, PinnedOperator>,
}

/// Identifies a policy. The policy's content is in [`Header::rules`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedPolicy {
    /// SHA-256 of the policy's canonical form. It is part of the request key.
    pub hash: Hash,
    /// Version number given by the policy's author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}
