//! Retry rules (§9): codes that are retried, number of retries, and backoff.

use crate::model::bounds::RETRY_AFTER_MS;
use crate::model::error::Code;
use crate::model::retry::{BASE_MS, CAP_MS, RetrySpec};

/// Returns the maximum number of retries after a first try that fails with `code`. An override changes the
/// number, but never makes a final code retryable.
pub fn retries_allowed(code: Code, spec: Option<&RetrySpec>) -> u32 {
    if !code.is_retryable() {
        return 0;
    }
    spec.and_then(|spec| spec.max).unwrap_or(code.retries())
}

/// Returns the retry overrides in force. A value of the step in the plan takes precedence over a value of the plugin.
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

/// Returns the milliseconds between a failure and retry `n`, counted from 0.
///
/// The backoff has full jitter: it is uniform from 0 to `min(cap, base · 2^n)`. Without jitter, calls that fail
/// together would be retried together. `random` must be uniform over all of `u32`.
///
/// `retry_after_ms` is limited to [`RETRY_AFTER_MS`] and is a lower bound for the result.
pub fn backoff_ms(n: u32, spec: Option<&RetrySpec>, retry_after_ms: Option<u32>, random: u32) -> u32 {
    let jittered = (u64::from(random) * (u64::from(ceiling_ms(n, spec)) + 1)) >> 32;
    let jittered = u32::try_from(jittered).expect("at most the ceiling, which is a u32");
    jittered.max(retry_after_ms.unwrap_or(0).min(RETRY_AFTER_MS))
}

/// Returns the maximum jittered backoff for retry `n`.
pub fn ceiling_ms(n: u32, spec: Option<&RetrySpec>) -> u32 {
    let base = spec.and_then(|spec| spec.base_ms).unwrap_or(BASE_MS);
    let cap = spec.and_then(|spec| spec.cap_ms).unwrap_or(CAP_MS);
    // A shift by 32 bits is enough, because it makes every base of at least 1 exceed every cap.
    let grown = u64::from(base) << n.min(32);
    u32::try_from(grown.min(u64::from(cap))).expect("at most the cap, which is a u32")
}

#[cfg(test)]
mod tests;
