//! Signatures: what is signed and where it stands. The mathematics is the caller's, so that the
//! kernel names no implementation.

use super::line;
use super::record::SignatureRecord;
use crate::ids::Hash;

/// Bytes of an Ed25519 signature.
pub const SIGNATURE_BYTES: usize = 64;

/// An Ed25519 public key, written `ed25519:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// Read `ed25519:` and 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let key = Self(Hash::from_hex(text.strip_prefix("ed25519:")?)?.0);
        (key.to_string() == text).then_some(key)
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ed25519:{}", Hash(self.0))
    }
}

/// What is signed: a word that says what it is, and the SHA-256 of all bytes before the signature.
pub fn message(before: &[u8]) -> Vec<u8> {
    let mut message = b"latchwork.evidence/1 signature\0".to_vec();
    message.extend_from_slice(&Hash::of(&[before]).0);
    message
}

/// Puts a signature behind the trailer of a whole file.
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
