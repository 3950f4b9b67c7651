//! Keys (§6): what makes two requests, two calls or two actions the same one.
//!
//! Fields are kept apart so that no two different lists of fields give the same bytes: by one
//! zero byte where the fields cannot contain it, else by a length before each. A length is
//! eight bytes, big endian. The encodings are part of the format of stored data and of what
//! downstream systems have seen: never change one.

use crate::event::{Mode, PayloadRef};
use crate::ids::{Hash, JobId, Operator, Slot, StepId};

mod action;

pub use action::{BadTemplate, Template, UnknownName, action_key, call_action_key};

/// Identity of an invocation with its arguments, in ledger and events:
/// `SHA-256(job_id ␀ slot ␀ operator ␀ args)` with canonical `args`.
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

/// The key a downstream system dedupes on: `latch:<job_id>:<slot>:<first_attempt>`, where
/// `first_attempt` is the attempt that first started the invocation. It never changes
/// afterwards, whoever executes, retries or reconciles.
pub fn external_key(job: &JobId, slot: &Slot, first_attempt: u32) -> String {
    format!("latch:{job}:{slot}:{first_attempt}")
}

/// The id of the `n`-th event that a step announced: `latch:<job_id>:<step_id>:e<n>`. It is the
/// same whenever the event is told, so whoever hears it twice hears one thing.
pub fn event_id(job: &JobId, step: &StepId, n: u32) -> String {
    format!("latch:{job}:{step}:e{n}")
}

/// What makes two submissions the same request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Whose house.
    pub tenant: &'a str,
    /// Who asks.
    pub actor: &'a str,
    /// What is asked for.
    pub intent_type: &'a str,
    /// Its payload, canonical.
    pub intent_payload: &'a [u8],
    /// Hash of the contexts.
    pub contexts_hash: Hash,
    /// Hash of the policy in force.
    pub policy_hash: Hash,
    /// How the job is to be executed.
    pub mode: Mode,
    /// Tells apart requests that are otherwise the same.
    pub request_id: Option<&'a str>,
}

/// Identity of a request: `SHA-256` over its length-prefixed fields in the order of [`Request`];
/// hashes as their 32 bytes, the mode as its word, an absent `request_id` as nothing at all.
pub fn request_key(request: &Request<'_>) -> Hash {
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

/// Identity of a request that came with an `Idempotency-Key` header: `SHA-256` over the
/// length-prefixed `ik`, tenant, actor and header value. Four fields: never a [`request_key`].
pub fn header_request_key(tenant: &str, actor: &str, header: &str) -> Hash {
    length_prefixed(&[b"ik", tenant.as_bytes(), actor.as_bytes(), header.as_bytes()])
}

/// How an event refers to a payload: `SHA-256(SHA-256(secret ‖ 0 ‖ label) ‖ bytes)`. The label
/// says what the payload is, so that equal payloads in two places have different hashes.
pub fn payload_ref(secret: &Hash, label: &str, bytes: &[u8]) -> PayloadRef {
    let len = u32::try_from(bytes.len()).expect("payloads are limited far below 4 GiB");
    PayloadRef { hash: payload_hash(secret, label, bytes), len }
}

/// The salted hash inside a [`payload_ref`].
pub fn payload_hash(secret: &Hash, label: &str, bytes: &[u8]) -> Hash {
    Hash::of(&[&payload_salt(secret, label).0, bytes])
}

/// The salt of one payload: `SHA-256(secret ‖ 0 ‖ label)`. It tells nothing about the salts of
/// others, so that it can be shown where the secret cannot.
pub fn payload_salt(secret: &Hash, label: &str) -> Hash {
    Hash::of(&[&secret.0, &[0], label.as_bytes()])
}

/// A [`payload_ref`] by a salt alone; none where the bytes are longer than any payload.
pub fn salted_ref(salt: &Hash, bytes: &[u8]) -> Option<PayloadRef> {
    let len = u32::try_from(bytes.len()).ok()?;
    Some(PayloadRef { hash: Hash::of(&[&salt.0, bytes]), len })
}

/// Seed of a step's random numbers: `SHA-256(job_seed ␀ step_id)` over the seed's 32 bytes.
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
