//! Data that is constant for a job.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::{Hash, JobId, Operator, StepId};
use crate::model::manifest::PinnedOperator;
use crate::model::mode::Mode;
use crate::model::payload::PayloadRef;
use crate::model::rules::Rules;

/// Data that is constant for a job, stored in its first event.
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
    /// The tenant's rules when the job was accepted. Later rules can restrict the job further but never allow more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// Operators that the job may call, each with its pinned plugin.
    pub operators: BTreeMap<Operator, PinnedOperator>,
}

/// Identifies a policy. The policy's content is in [`Header::rules`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedPolicy {
    /// SHA-256 of the policy's canonical form. This hash is part of the request key.
    pub hash: Hash,
    /// Version number given by the policy's author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}
