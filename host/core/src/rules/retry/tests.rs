use proptest::prelude::*;

use crate::rules::retry::*;

fn spec(max: Option<u32>, base_ms: Option<u32>, cap_ms: Option<u32>) -> RetrySpec {
    RetrySpec { max, base_ms, cap_ms }
}

#[test]
fn the_ceiling_doubles_up_to_the_cap() {
    let ceilings: Vec<_> = (0..9).map(|n| ceiling_ms(n, None)).collect();
    assert_eq!(ceilings, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000]);
    assert_eq!(ceiling_ms(u32::MAX, None), 120_000);
    assert_eq!(ceiling_ms(3, Some(&spec(None, Some(10), None))), 80);
    assert_eq!(ceiling_ms(3, Some(&spec(None, Some(10), Some(50)))), 50);
    assert_eq!(ceiling_ms(0, Some(&spec(None, Some(500), Some(50)))), 50);
    assert_eq!(ceiling_ms(40, Some(&spec(None, Some(0), None))), 0);
    assert_eq!(ceiling_ms(31, Some(&spec(None, Some(u32::MAX), Some(u32::MAX)))), u32::MAX);
}

/// I174.
#[test]
fn jitter_covers_the_whole_range() {
    assert_eq!(backoff_ms(0, None, None, 0), 0);
    assert_eq!(backoff_ms(0, None, None, u32::MAX), 1_000);
    assert_eq!(backoff_ms(0, None, None, u32::MAX / 2), 500);
    assert_eq!(backoff_ms(50, Some(&spec(None, None, Some(u32::MAX))), None, u32::MAX), u32::MAX);
}

/// I174: bound `retry_after_ms`.
#[test]
fn retry_after_is_honored_up_to_one_day() {
    assert_eq!(backoff_ms(0, None, Some(7_000), u32::MAX), 7_000);
    assert_eq!(backoff_ms(0, None, Some(10), u32::MAX), 1_000);
    assert_eq!(backoff_ms(0, Some(&spec(None, None, Some(50))), Some(7_000), 0), 7_000);
    assert_eq!(RETRY_AFTER_MS, 86_400_000);
    for (asked, waits) in [(RETRY_AFTER_MS - 1, RETRY_AFTER_MS - 1), (RETRY_AFTER_MS, RETRY_AFTER_MS)] {
        assert_eq!(backoff_ms(0, None, Some(asked), 0), waits);
    }
    for asked in [RETRY_AFTER_MS + 1, u32::MAX] {
        assert_eq!(backoff_ms(0, None, Some(asked), 0), RETRY_AFTER_MS);
    }
}

#[test]
fn retry_override_changes_only_the_retry_count() {
    for code in Code::ALL {
        assert_eq!(retries_allowed(*code, None), code.retries());
        let nine = if code.is_retryable() { 9 } else { 0 };
        assert_eq!(retries_allowed(*code, Some(&spec(Some(9), None, None))), nine, "{code}");
        assert_eq!(retries_allowed(*code, Some(&spec(Some(0), None, None))), 0);
        assert_eq!(retries_allowed(*code, Some(&spec(None, Some(1), Some(1)))), code.retries());
    }
}

proptest! {
    /// I174.
    #[test]
    fn a_backoff_is_within_its_bounds(
        n: u32, random: u32, retry_after in prop::option::of(any::<u32>()),
        max in prop::option::of(any::<u32>()), base in prop::option::of(any::<u32>()), cap in prop::option::of(any::<u32>()),
    ) {
        let spec = spec(max, base, cap);
        let wait = backoff_ms(n, Some(&spec), retry_after, random);
        let floor = retry_after.unwrap_or(0).min(RETRY_AFTER_MS);
        prop_assert!(wait >= floor);
        prop_assert!(wait <= floor.max(ceiling_ms(n, Some(&spec))));
        prop_assert!(ceiling_ms(n, Some(&spec)) <= cap.unwrap_or(CAP_MS));
    }

    #[test]
    fn backoff_is_monotonic_in_the_random_draw(n in 0_u32..40, a: u32, b: u32) {
        prop_assert!(backoff_ms(n, None, None, a.min(b)) <= backoff_ms(n, None, None, a.max(b)));
        prop_assert!(ceiling_ms(n, None) <= ceiling_ms(n + 1, None));
    }
}
