//! Ed25519 keys as PKCS#8 in PEM, the format of `openssl genpkey -algorithm ed25519`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;

use latchwork_core::model::person::{PublicKey, SIGNATURE_BYTES};
use latchwork_engine::os::Machine;

/// First bytes of an Ed25519 key in PKCS#8 version 1 (RFC 8410). The seed follows these bytes. Only new keys are built
/// from these bytes, because `ring` creates a key file from its own entropy alone, not from the injected one.
const PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
const SEED_BYTES: usize = 32;

/// A private key for signatures.
pub struct SigningKey {
    der: PrivatePkcs8KeyDer<'static>,
    pair: Ed25519KeyPair,
}

/// Error for a text that contains no valid key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an Ed25519 private key in PEM format (PKCS#8); create one with `latch key new FILE` or \
     `openssl genpkey -algorithm ed25519`"
)]
pub struct InvalidKey;

impl SigningKey {
    /// Generates a new key from the entropy of `machine`.
    pub fn generate(machine: &Machine) -> Self {
        Self::from_seed(machine.random_bytes())
    }

    fn from_seed(seed: [u8; SEED_BYTES]) -> Self {
        let der = PrivatePkcs8KeyDer::from([PREFIX.as_slice(), &seed].concat());
        Self::from_der(der).expect("any 32 bytes are a seed")
    }

    fn from_der(der: PrivatePkcs8KeyDer<'static>) -> Result<Self, InvalidKey> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der()).map_err(|_| InvalidKey)?;
        Ok(Self { der, pair })
    }

    /// Reads the first private key of a PEM text.
    ///
    /// # Errors
    /// The text has no private key, or the key is not an Ed25519 key.
    pub fn from_pem(text: &str) -> Result<Self, InvalidKey> {
        // The parser accepts a marker line only if the line contains nothing but the marker. Spaces around each line
        // are therefore removed.
        let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim).collect();
        Self::from_der(PrivatePkcs8KeyDer::from_pem_slice(lines.join("\n").as_bytes()).map_err(|_| InvalidKey)?)
    }

    /// Returns the private key as a PEM text. Anyone who can read the text can sign.
    pub fn to_pem(&self) -> String {
        let body = STANDARD.encode(self.der.secret_pkcs8_der());
        format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
    }

    /// Returns the public key that verifies the signatures.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.pair.public_key().as_ref().try_into().expect("a public key has 32 bytes"))
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.pair.sign(message).as_ref().try_into().expect("a signature has 64 bytes")
    }
}

/// Returns true if `signature` is a valid signature of the message by the key.
pub fn is_valid_signature(key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
    UnparsedPublicKey::new(&ED25519, key.0).verify(message, signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and signatures match the first test vector of RFC 8032, section 7.1. The key is read and written
    /// in the format of OpenSSL.
    #[test]
    fn keys_match_rfc_8032() {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let seed: [u8; 32] = hex::decode(seed).unwrap().try_into().unwrap();
        let key = SigningKey::from_seed(seed);
        assert_eq!(
            key.public().to_string(),
            "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        );
        let signature = key.sign(b"");
        assert!(hex::encode(signature).starts_with("e5564300c360ac729086e2cc806e828a"));
        assert!(is_valid_signature(&key.public(), b"", &signature));
        assert!(!is_valid_signature(&key.public(), b"x", &signature));
        assert!(!is_valid_signature(&SigningKey::generate(&Machine::system()).public(), b"", &signature));
        let pem = key.to_pem();
        assert!(pem.contains("MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v"), "{pem}");
        assert_eq!(SigningKey::from_pem(&pem).unwrap().public(), key.public());
    }

    /// A PEM text may have lines of any length, any line ending, extra spaces, other text around the key, and other
    /// sections before the key.
    #[test]
    fn first_private_key_of_a_text_is_read() {
        let key = SigningKey::generate(&Machine::system());
        let pem = key.to_pem();
        let (head, tail) = pem.split_at(40);
        let other = SigningKey::generate(&Machine::system()).to_pem();
        for text in [
            pem.trim_end().to_owned(),
            pem.replace('\n', "\r\n"),
            format!("{head}\n \t{tail}"),
            format!("\u{feff}{pem}"),
            pem.lines().map(|line| format!("  {line} \n")).collect(),
            format!("a comment\n\n{pem}the end"),
            format!("{}{pem}", other.replace("PRIVATE KEY", "PUBLIC KEY")),
            format!("{}{pem}", other.replace("PRIVATE KEY", "OTHER")),
            format!("{pem}{other}"),
        ] {
            assert_eq!(SigningKey::from_pem(&text).unwrap().public(), key.public(), "{text}");
        }
    }

    /// A key in PKCS#8 version 2 contains its public key, which must fit the private key.
    #[test]
    fn key_of_version_2_is_read() {
        let der = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(der.as_ref()).unwrap();
        let pem =
            |der: &[u8]| format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der));
        let key = SigningKey::from_pem(&pem(der.as_ref())).unwrap();
        assert_eq!(key.public().0, pair.public_key().as_ref());
        assert_eq!(SigningKey::from_pem(&key.to_pem()).unwrap().public(), key.public());
        let mut other = der.as_ref().to_vec();
        *other.last_mut().unwrap() ^= 1;
        assert!(SigningKey::from_pem(&pem(&other)).is_err());
    }

    #[test]
    fn invalid_keys_are_refused() {
        let good = SigningKey::generate(&Machine::system()).to_pem();
        let der = [PREFIX.as_slice(), &[7; SEED_BYTES]].concat();
        let pem = |der: &[u8]| good.replace(good.lines().nth(1).unwrap(), &STANDARD.encode(der));
        assert!(SigningKey::from_pem(&pem(&der)).is_ok());
        // Invalid keys: seeds of a wrong length, and a key in PKCS#8 version 2 without its public key.
        let others = [
            der[..der.len() - 1].to_vec(),
            [der.as_slice(), &[0]].concat(),
            [&[0x30, 0x51, 0x02, 0x01, 0x01], &der[5..]].concat(),
        ];
        let others = others.map(|der| pem(&der));
        let damaged = [
            String::new(),
            "ed25519".to_owned(),
            good.replace("PRIVATE", "PUBLIC"),
            good.replace("PRIVATE", "EC PRIVATE"),
            good.replacen("MC4C", "MC4D", 1),
            good.replacen("MC4C", "MC4!", 1),
            good.replacen("MC4C", "MC4", 1),
            good.replacen("MC4C", "MC=C", 1),
            good.replace("-----END PRIVATE KEY-----", ""),
        ];
        for bad in others.iter().chain(&damaged) {
            assert!(SigningKey::from_pem(bad).is_err(), "{bad}");
        }
    }
}
