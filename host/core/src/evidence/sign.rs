//! Signatures of evidence files: the signed message and its place in the file. The caller computes and checks
//! signatures, so this crate needs no implementation of Ed25519.

use super::line;
use super::record::SignatureRecord;
use crate::model::ids::Hash;
use crate::model::person::{PublicKey, SIGNATURE_BYTES};

/// Returns the message to sign: a prefix that names the purpose, and the SHA-256 of all bytes before the
/// signature.
pub fn message(before: &[u8]) -> Vec<u8> {
    let mut message = b"latchwork.evidence/1 signature\0".to_vec();
    message.extend_from_slice(&Hash::of(&[before]).0);
    message
}

/// Appends a signature after the trailer of a complete file.
pub fn append_signature(file: &mut Vec<u8>, key: PublicKey, signature: [u8; SIGNATURE_BYTES]) {
    let number = file.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let record = SignatureRecord {
        algorithm: "ed25519".to_owned(),
        public_key: key.to_string(),
        signature: hex::encode(signature),
    };
    file.extend_from_slice(&line::seal("signature", number, &record));
    file.push(b'\n');
}
