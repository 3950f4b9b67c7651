//! Retries (§9): which failures, how often, and after how long.

use crate::error::Code;
use crate::plan::RetrySpec;

/// First backoff where nothing else is said, in milliseconds.
pub const BASE_MS: u32 = 1_000;
/// Longest backoff where nothing else is said, in milliseconds.
pub const CAP_MS: u32 = 120_000;
/// The longest wait that the other side's `retry-after` can ask for: a day, in milliseconds.
pub const RETRY_AFTER_MAX_MS: u32 = 24 * 60 * 60 * 1_000;

/// How many retries may follow the first try when it fails with `code`. An override changes
/// the number, never whether a code is retryable.
pub fn retries_allowed(code: Code, spec: Option<&RetrySpec>) -> u32 {
    if !code.is_retryable() {
        return 0;
    }
    spec.and_then(|spec| spec.max).unwrap_or(code.retries())
}

/// The overrides in force: what the step says, else its plugin.
pub fn overrides(step: Option<&RetrySpec>, plugin: Option<&RetrySpec>) -> Option<RetrySpec> {
    match (step, plugin) {
        (Some(step), Some(plugin)) => Some(RetrySpec {
            max: step.max.or(plugin.max),
            base_ms: step.base_ms.or(plugin.base_ms),
            cap_ms: step.cap_ms.or(plugin.cap_ms),
        }),
        (step, plugin) => step.or(plugin).cloned(),
    }
}

/// Milliseconds from a failure to retry `n` (from 0).
///
/// Full jitter: uniform from 0 to `min(cap, base · 2^n)`, drawn with `random` (uniform over all
/// of `u32`), so that many that failed together do not come back together. The other side's
/// `retry_after` is a floor under that, up to [`RETRY_AFTER_MAX_MS`].
pub fn backoff_ms(n: u32, spec: Option<&RetrySpec>, retry_after_ms: Option<u32>, random: u32) -> u32 {
    let jittered = (u64::from(random) * (u64::from(ceiling_ms(n, spec)) + 1)) >> 32;
    let jittered = u32::try_from(jittered).expect("at most the ceiling, which is a u32");
    jittered.max(retry_after_ms.unwrap_or(0).min(RETRY_AFTER_MAX_MS))
}

/// The longest backoff that [`backoff_ms`] draws for retry `n`.
pub fn ceiling_ms(n: u32, spec: Option<&RetrySpec>) -> u32 {
    let base = spec.and_then(|spec| spec.base_ms).unwrap_or(BASE_MS);
    let cap = spec.and_then(|spec| spec.cap_ms).unwrap_or(CAP_MS);
    // 2^32 times anything but 0 is above every cap.
    let grown = u64::from(base) << n.min(32);
    u32::try_from(grown.min(u64::from(cap))).expect("at most the cap, which is a u32")
}

#[cfg(test)]
mod tests;
