//! The injected random numbers of a step. The generator is seeded per job and step, and a replay gets the
//! same numbers.
//!
//! ```
//! use latchwork_guest::rng;
//!
//! let die = rng::below(6) + 1;
//! assert!((1..=6).contains(&die));
//! let id = rng::uuid();
//! assert_eq!(id.len(), 36);
//! ```

use crate::host;

/// Maximum number of bytes that the host returns per call.
const CHUNK: usize = 65_536;

/// Returns `len` random bytes.
pub fn bytes(len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        let wanted = (len - bytes.len()).min(CHUNK);
        bytes.extend(host::rng_bytes(u32::try_from(wanted).unwrap_or(u32::MAX)));
    }
    bytes
}

/// Returns a uniform random 32-bit number.
pub fn u32() -> u32 {
    host::rng_u32()
}

/// Returns a uniform random number in `0..bound`, or 0 if `bound` is 0.
pub fn below(bound: u32) -> u32 {
    host::rng_below(bound)
}

/// Returns a random UUID of version 4, 36 characters in lower case.
pub fn uuid() -> String {
    let mut bytes = bytes(16);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn uuid_has_version_and_variant_of_random_uuids() {
        let id = super::uuid();
        assert_eq!(&id[14..15], "4");
        assert!("89ab".contains(&id[19..20]));
        assert_ne!(id, super::uuid());
    }
}
