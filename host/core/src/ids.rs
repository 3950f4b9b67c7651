//! Names and numbers that identify things. Each is checked where it enters, so that code
//! behind the border can rely on its form.

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
            /// Wrap a text that is known to have the right form.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }
            /// The text itself.
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
    /// A job: `job_` and a ULID.
    JobId
);
text_id!(
    /// A node of a plan: `[A-Za-z0-9_-]{1,64}`.
    StepId
);
text_id!(
    /// Where an invocation stands: `s6`, `s3/0`, `s6~c`.
    Slot
);
text_id!(
    /// The public name of an operator: `Email.GenerateDraft`.
    Operator
);

impl StepId {
    /// Whether `text` may name a step.
    pub fn is_valid(text: &str) -> bool {
        (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    }
}

impl Slot {
    /// The slot of a plan step that is itself a tool or a model.
    pub fn of_step(step: &StepId) -> Self {
        Self::new(step.as_str())
    }
    /// The slot of the `k`-th call inside a step plugin.
    pub fn of_call(step: &StepId, k: u32) -> Self {
        Self::new(format!("{step}/{k}"))
    }
    /// The step this slot belongs to.
    pub fn step(&self) -> StepId {
        let end = self.0.find(['/', '~']).unwrap_or(self.0.len());
        StepId::new(&self.0[..end])
    }
    /// The slot of the call that undoes the call at this one.
    pub fn compensation(&self) -> Self {
        Self::new(format!("{self}~c"))
    }
    /// The slot of the call that the one at this slot undoes; none where it undoes nothing.
    pub fn compensated(&self) -> Option<Self> {
        self.0.strip_suffix("~c").map(Self::new)
    }
    /// Whether the call at this slot undoes another one.
    pub fn is_compensation(&self) -> bool {
        self.0.ends_with("~c")
    }
    /// Whether it is the plan step itself: neither a call inside it nor what undoes one.
    pub fn is_step(&self) -> bool {
        !self.0.contains(['/', '~'])
    }
    /// Which call of the step plugin it is, or which one it undoes; none for a plan step's own.
    pub fn call_number(&self) -> Option<u32> {
        self.0.split_once('/')?.1.trim_end_matches("~c").parse().ok()
    }
}

impl Operator {
    /// Whether `text` may name an operator: 1 to 128 visible ASCII characters without `/`, `:` or `~`.
    pub fn is_valid(text: &str) -> bool {
        (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'/' | b':' | b'~' | b'"'))
    }
}

/// 32 bytes of SHA-256, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// SHA-256 of the concatenation of `parts`.
    pub fn of(parts: &[&[u8]]) -> Self {
        use sha2::Digest;
        let mut hasher = sha2::Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
    /// Read 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
    /// Write 64 hexadecimal digits.
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
    fn a_slot_names_its_step_and_call() {
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
    fn a_hash_reads_what_it_writes() {
        let hash = Hash::of(&[b"a", b"b"]);
        assert_eq!(hash, Hash::of(&[b"ab"]));
        assert_eq!(Hash::from_hex(&hash.to_hex()), Some(hash));
        assert_eq!(serde_json::from_str::<Hash>(&serde_json::to_string(&hash).unwrap()).unwrap(), hash);
    }
}
