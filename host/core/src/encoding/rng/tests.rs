//! Tests of random numbers. The golden values do not come from this code. They were computed once from the definitions
//! in the documentation, with ChaCha20 of Python's `cryptography` package.

use proptest::prelude::*;

use crate::encoding::rng::*;
use crate::model::ids::{Hash, StepId};
use crate::model::keys::step_seed;

/// Generator of step `s1` in a job whose seed is the bytes 0 to 31.
fn rng() -> StepRng {
    StepRng::new(step_seed(&Hash(std::array::from_fn(|index| index as u8)), &StepId::new("s1")))
}

/// I17, I181.
#[test]
fn golden_bytes() {
    // The first block of RFC 8439, appendix A.1, test vector 1.
    assert_eq!(
        hex::encode(StepRng::new([0; 32]).bytes(32)),
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
    );
    let bytes = rng().bytes(1016);
    assert_eq!(
        hex::encode(&bytes[..48]),
        "0b094858280de5cbf5a68adb9bd91940fabb05a67a8f8115ddcfce5cfff1b1e8e914e3ccaf87f418e3c5ac000ceb8b69"
    );
    assert_eq!(hex::encode(&bytes[1000..]), "e0d2a9d5cc563bb721e02cd411a9bccc");
}

#[test]
fn golden_words() {
    let mut rng = rng();
    let words: [u32; 4] = std::array::from_fn(|_| rng.next_u32());
    assert_eq!(words, [0x5848_090b, 0xcbe5_0d28, 0xdb8a_a6f5, 0x4019_d99b]);
}

#[test]
fn golden_bounded_numbers() {
    let mut dice = rng();
    let throws: [u32; 20] = std::array::from_fn(|_| dice.below(6));
    assert_eq!(throws, [3, 2, 3, 5, 2, 4, 3, 5, 3, 5, 5, 2, 1, 0, 0, 1, 1, 1, 2, 1]);
    // About half of the words are rejected here, so 6 results consume 16 words.
    let mut large = rng();
    let numbers: [u32; 6] = std::array::from_fn(|_| large.below(0x8000_0001));
    assert_eq!(numbers, [1273302311, 1535813364, 637910009, 1756492286, 1289950440, 2043015994]);
    assert_eq!(large.bytes(4), rng().bytes(68)[64..]);
    // A bound of 0 consumes no word. A bound of 1 consumes a word like any other bound.
    let mut mixed = rng();
    assert_eq!([1, 10, 0, 1000, u32::MAX].map(|bound| mixed.below(bound)), [0, 0, 0, 13, 1075435931]);
    assert_eq!(mixed.bytes(1), rng().bytes(17)[16..]);
}

#[test]
fn reduce_rejects_exactly_the_biased_words() {
    // 2^32 mod 6 is 4, so the words 0 to 3 are rejected. For a power of two, no word is rejected.
    assert_eq!([0, 3, 4, 5, u32::MAX].map(|x| reduce(x, 6)), [None, None, Some(4), Some(5), Some(3)]);
    assert_eq!([0, 7, u32::MAX].map(|x| reduce(x, 8)), [Some(0), Some(7), Some(7)]);
    assert_eq!([0, u32::MAX].map(|x| reduce(x, 1)), [Some(0), Some(0)]);
    assert_eq!([0, 1, u32::MAX].map(|x| reduce(x, u32::MAX)), [None, Some(1), Some(0)]);
}

#[test]
fn bounded_numbers_are_uniform() {
    let mut rng = rng();
    let mut counts = [0_u32; 6];
    for _ in 0..60_000 {
        counts[rng.below(6) as usize] += 1;
    }
    // Each count is about 10,000. Five standard deviations are about 460.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 460), "{counts:?}");
}

proptest! {
    #[test]
    fn byte_stream_has_no_gaps(lens in prop::collection::vec(0_usize..70, 0..8), seed in any::<[u8; 32]>()) {
        let mut rng = StepRng::new(seed);
        let pieces: Vec<u8> = lens.iter().flat_map(|len| rng.bytes(*len)).collect();
        prop_assert_eq!(&pieces, &StepRng::new(seed).bytes(pieces.len()));
        let next = StepRng::new(seed).bytes(pieces.len() + 4)[pieces.len()..].to_vec();
        prop_assert_eq!(rng.next_u32().to_le_bytes().to_vec(), next);
    }

    #[test]
    fn a_bounded_number_is_below_its_bound(bound in 1_u32.., seed in any::<[u8; 32]>()) {
        prop_assert!(StepRng::new(seed).below(bound) < bound);
    }
}
