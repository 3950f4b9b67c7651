//! Keys (§6): identities of requests, calls and actions.
//!
//! The encodings ensure that different lists of fields never give the same bytes. Fields that cannot contain a zero
//! byte are separated by one zero byte. Other fields are preceded by their length as eight bytes, big endian. The
//! encodings must never change, because keys are stored and were sent to outside systems.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::model::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::model::mode::Mode;
use crate::model::payload::PayloadRef;

mod action;

pub use action::{BadTemplate, Template, UnknownName, action_key, call_action_key};

/// Returns the identity of an invocation with its arguments, as used in ledger and events: `SHA-256(job_id ␀
/// slot ␀ operator ␀ args)` with canonical `args`.
pub fn idempotency_key(job: &JobId, slot: &Slot, operator: &Operator, canonical_args: &[u8]) -> Hash {
    let zero: &[u8] = &[0];
    Hash::of(&[
        job.as_str().as_bytes(),
        zero,
        slot.as_str().as_bytes(),
        zero,
        operator.as_str().as_bytes(),
        zero,
        canonical_args,
    ])
}

/// Returns the external key, by which an outside system recognizes a repeated call:
/// `latch:<job_id>:<slot>:<first_attempt>`. `first_attempt` is the attempt that first started the invocation. The key
/// is the same for every later execution, retry and reconcile request.
pub fn external_key(job: &JobId, slot: &Slot, first_attempt: u32) -> String {
    format!("latch:{job}:{slot}:{first_attempt}")
}

/// Returns the id of the `n`-th event that a step emitted: `latch:<job_id>:<step_id>:e<n>`. The id is the same
/// in every delivery, so receivers can ignore duplicates.
pub fn event_id(job: &JobId, step: &StepId, n: u32) -> String {
    format!("latch:{job}:{step}:e{n}")
}

/// Fields that identify a request. Two submissions are the same request if these fields are equal.
#[derive(Clone, Copy, Debug)]
pub struct RequestIdentity<'a> {
    /// Tenant of the request.
    pub tenant: &'a str,
    /// Actor that makes the request.
    pub actor: &'a str,
    /// Type of the intent.
    pub intent_type: &'a str,
    /// Canonical payload of the intent.
    pub intent_payload: &'a [u8],
    /// Hash of the contexts.
    pub contexts_hash: Hash,
    /// Hash of the policy in force.
    pub policy_hash: Hash,
    /// Execution mode of the job.
    pub mode: Mode,
    /// Id that distinguishes otherwise equal requests.
    pub request_id: Option<&'a str>,
}

/// Returns the identity of a request: the `SHA-256` of the length-prefixed fields in the order of
/// [`RequestIdentity`]. Hashes are encoded as 32 bytes and the mode as its name. An absent `request_id` is omitted
/// completely.
pub fn request_key(request: &RequestIdentity<'_>) -> Hash {
    let mut fields: Vec<&[u8]> = vec![
        request.tenant.as_bytes(),
        request.actor.as_bytes(),
        request.intent_type.as_bytes(),
        request.intent_payload,
        &request.contexts_hash.0,
        &request.policy_hash.0,
        request.mode.as_str().as_bytes(),
    ];
    fields.extend(request.request_id.map(str::as_bytes));
    length_prefixed(&fields)
}

/// Returns the identity of a request with an `Idempotency-Key` header: the `SHA-256` of four length-prefixed fields.
/// The fields are the text `ik`, the tenant, the actor and the header value. A [`request_key`] has more fields, so
/// the two kinds of keys are never equal.
pub fn header_request_key(tenant: &str, actor: &str, header: &str) -> Hash {
    length_prefixed(&[b"ik", tenant.as_bytes(), actor.as_bytes(), header.as_bytes()])
}

/// Returns the request key under the job's secret: `HMAC-SHA-256(secret, "latchwork request key" ␀ request_key)`.
/// Events contain this hash in place of the request key. A request key has no salt, so the intent could be guessed
/// from it.
pub fn request_mac(secret: &Hash, request_key: &Hash) -> Hash {
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret.0).expect("a key may have any length");
    mac.update(b"latchwork request key\0");
    mac.update(&request_key.0);
    Hash(mac.finalize().into_bytes().into())
}

/// Returns the reference by which events refer to a payload. Its hash is `SHA-256(SHA-256(secret ‖ 0 ‖ label) ‖
/// bytes)`. Equal payloads with different labels therefore have different hashes.
pub fn payload_ref(secret: &Hash, label: &str, bytes: &[u8]) -> PayloadRef {
    let len = u32::try_from(bytes.len()).expect("payloads are limited far below 4 GiB");
    PayloadRef { hash: payload_hash(secret, label, bytes), len }
}

/// Returns the salted hash of a payload, as in [`payload_ref`].
pub fn payload_hash(secret: &Hash, label: &str, bytes: &[u8]) -> Hash {
    Hash::of(&[&payload_salt(secret, label).0, bytes])
}

/// Returns the salt of one payload: `SHA-256(secret ‖ 0 ‖ label)`. A salt does not reveal the secret or other salts,
/// so it can be disclosed while the secret stays hidden.
pub fn payload_salt(secret: &Hash, label: &str) -> Hash {
    Hash::of(&[&secret.0, &[0], label.as_bytes()])
}

/// Returns the reference to a payload whose salt is known. Returns `None` if `bytes` has 4 GiB or more. Valid
/// payloads are far smaller.
pub fn payload_ref_from_salt(salt: &Hash, bytes: &[u8]) -> Option<PayloadRef> {
    let len = u32::try_from(bytes.len()).ok()?;
    Some(PayloadRef { hash: Hash::of(&[&salt.0, bytes]), len })
}

/// Returns the seed of a step's random numbers: `SHA-256(job_seed ␀ step_id)` over the 32 bytes of `job_seed`.
pub fn step_seed(job_seed: &Hash, step: &StepId) -> [u8; 32] {
    Hash::of(&[&job_seed.0, &[0], step.as_str().as_bytes()]).0
}

fn length_prefixed(fields: &[&[u8]]) -> Hash {
    let lengths: Vec<[u8; 8]> = fields.iter().map(|field| (field.len() as u64).to_be_bytes()).collect();
    let parts: Vec<&[u8]> = lengths.iter().zip(fields).flat_map(|(length, field)| [length, *field]).collect();
    Hash::of(&parts)
}

#[cfg(test)]
mod tests;
