//! Data that is constant for a job.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::{Hash, JobId, Operator, StepId};
use crate::model::keys::request_mac;
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
    /// Reference to the identity of the request (§6).
    #[serde(flatten)]
    pub request: RequestRef,
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

/// Reference to the identity of a request. An event that contains the plain request key has version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestRef {
    /// The request key itself, in events of version 1. The intent can be guessed from the key.
    RequestKey(Hash),
    /// The request key under the job's secret: [`request_mac`](crate::model::keys::request_mac).
    RequestMac(Hash),
}

impl RequestRef {
    /// Returns the reference for the event of a new job.
    pub fn new(secret: &Hash, request_key: &Hash) -> Self {
        RequestRef::RequestMac(request_mac(secret, request_key))
    }

    /// Returns the same kind of reference to another request key.
    pub fn of_same_kind(&self, secret: &Hash, request_key: &Hash) -> Self {
        match self {
            RequestRef::RequestKey(_) => RequestRef::RequestKey(*request_key),
            RequestRef::RequestMac(_) => Self::new(secret, request_key),
        }
    }

    /// Returns the name of the field in events.
    pub fn field(&self) -> &'static str {
        match self {
            RequestRef::RequestKey(_) => "request_key",
            RequestRef::RequestMac(_) => "request_mac",
        }
    }

    /// Returns the hash in the reference.
    pub fn hash(&self) -> Hash {
        match self {
            RequestRef::RequestKey(hash) | RequestRef::RequestMac(hash) => *hash,
        }
    }
}

impl std::fmt::Display for RequestRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.field(), self.hash())
    }
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
