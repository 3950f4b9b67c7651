//! Identifiers and hashes. The form of each identifier is checked when the identifier enters the system. All other
//! code relies on this form.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Creates the identifier from a text without checking it. The caller must ensure that the text has the
            /// required form.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id!(
    /// Id of a job: `job_` followed by a ULID.
    JobId
);
text_id!(
    /// Id of a plan step: `[A-Za-z0-9_-]{1,64}`.
    StepId
);
text_id!(
    /// Identity of an invocation within a job: `s6`, `s3/0` or `s6~c`.
    Slot
);
text_id!(
    /// Public name of an operator, such as `Email.GenerateDraft`.
    Operator
);

impl StepId {
    /// Returns true if `text` is a valid step id.
    pub fn is_valid(text: &str) -> bool {
        (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    }
}

impl Slot {
    /// Returns the slot of a plan step that is itself a tool or a model.
    pub fn of_step(step: &StepId) -> Self {
        Self::new(step.as_str())
    }
    /// Returns the slot of the `k`-th call inside a step plugin, counted from 0.
    pub fn of_call(step: &StepId, k: u32) -> Self {
        Self::new(format!("{step}/{k}"))
    }
    /// Returns the step to which this slot belongs.
    pub fn step(&self) -> StepId {
        let end = self.0.find(['/', '~']).unwrap_or(self.0.len());
        StepId::new(&self.0[..end])
    }
    /// Returns the slot of the call that compensates the call at this slot.
    pub fn compensation(&self) -> Self {
        Self::new(format!("{self}~c"))
    }
    /// Returns the slot that the call at this slot compensates. `None` if this slot is not a compensation.
    pub fn compensated(&self) -> Option<Self> {
        self.0.strip_suffix("~c").map(Self::new)
    }
    /// Returns true if the call at this slot is a compensation.
    pub fn is_compensation(&self) -> bool {
        self.0.ends_with("~c")
    }
    /// Returns true if the slot belongs to the plan step itself, and false for calls inside a step and for
    /// compensations.
    pub fn is_step(&self) -> bool {
        !self.0.contains(['/', '~'])
    }
    /// Returns the number of the call inside its step plugin. For a compensation, returns the number of the
    /// compensated call. `None` for the slot of a plan step and for its compensation.
    pub fn call_number(&self) -> Option<u32> {
        self.0.split_once('/')?.1.trim_end_matches("~c").parse().ok()
    }
}

impl Operator {
    /// Returns true if `text` is a valid operator name: 1 to 128 visible ASCII characters without `/`, `:`, `~`
    /// and `"`.
    pub fn is_valid(text: &str) -> bool {
        (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'/' | b':' | b'~' | b'"'))
    }
}

/// A SHA-256 hash of 32 bytes, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Computes the SHA-256 of the concatenation of `parts`.
    pub fn of(parts: &[&[u8]]) -> Self {
        use sha2::Digest;
        let mut hasher = sha2::Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
    /// Parses 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
    /// Formats the hash as 64 hexadecimal digits.
    pub fn to_hex(self) -> String {
        hex::encode(self.0)
    }
}
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}
impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex()[..12])
    }
}
impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = [0; 64];
        hex::encode_to_slice(self.0, &mut text).expect("64 digits hold 32 bytes");
        serializer.serialize_str(std::str::from_utf8(&text).expect("hexadecimal is ASCII"))
    }
}
impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("not 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_contains_step_and_call_number() {
        let step = StepId::new("s3");
        assert_eq!(Slot::of_call(&step, 7).step(), step);
        assert_eq!(Slot::of_call(&step, 7).call_number(), Some(7));
        assert_eq!(Slot::of_step(&step).call_number(), None);
        assert_eq!(Slot::new("s3~c").step(), step);
        assert_eq!(Slot::new("s3/2~c").call_number(), Some(2));
        for (slot, is_step) in [(Slot::of_step(&step), true), (Slot::of_call(&step, 7), false)] {
            let undo = slot.compensation();
            assert_eq!((undo.compensated(), undo.step()), (Some(slot.clone()), step.clone()));
            assert!(undo.is_compensation() && !undo.is_step() && !slot.is_compensation());
            assert_eq!((slot.is_step(), slot.compensated()), (is_step, None));
        }
    }

    #[test]
    fn hash_hex_round_trip() {
        let hash = Hash::of(&[b"a", b"b"]);
        assert_eq!(hash, Hash::of(&[b"ab"]));
        assert_eq!(Hash::from_hex(&hash.to_hex()), Some(hash));
        assert_eq!(serde_json::from_str::<Hash>(&serde_json::to_string(&hash).unwrap()).unwrap(), hash);
    }
}
