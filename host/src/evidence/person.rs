//! Checks the proof that a person made a decision, before the decision is accepted or applied.

use latchwork_core::decide;
use latchwork_core::event::DecidedBy;
use latchwork_core::model::person::{People, PublicKey, Verification};
use latchwork_core::state::Durable;
use latchwork_core::storage::InboxRequest;

use super::key::is_valid_signature;

/// Reason why a proof is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProof {
    /// The configuration lists the key under another person, or under no person.
    #[error("{key} is {}, not a key of {actor}", owner.as_ref().map_or("no key of a person".to_owned(), |owner| format!("a key of {owner}")))]
    OtherPerson {
        /// Key that signed.
        key: PublicKey,
        /// Name under which the decision was made.
        actor: String,
        /// Person who has the key.
        owner: Option<String>,
    },
    /// The signature is not for this decision, or the gate is no longer open.
    #[error("the signature by {0} does not match this decision")]
    OtherDecision(PublicKey),
}

/// Checks the proof of a request. A request without a proof is accepted, and the name of its actor counts as claimed.
///
/// # Errors
/// The key does not belong to the actor, or the signature is not for this request in the present state of the job.
pub fn check_proof(
    people: &People,
    durable: &Durable,
    by: &DecidedBy,
    request: &InboxRequest,
) -> Result<(), InvalidProof> {
    let Some(Verification::Signature { key, signature }) = &by.verified else { return Ok(()) };
    let owner = people.owner(key);
    if owner != Some(by.actor.as_str()) {
        let (actor, owner) = (by.actor.clone(), owner.map(str::to_owned));
        return Err(InvalidProof::OtherPerson { key: *key, actor, owner });
    }
    let statement = decide::signed_statement(durable, request, by);
    let is_valid = statement.is_some_and(|signed| is_valid_signature(key, &signed.message(), &signature.0));
    if is_valid { Ok(()) } else { Err(InvalidProof::OtherDecision(*key)) }
}
