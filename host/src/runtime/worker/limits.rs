//! Limits per operator in this process: concurrent calls and calls per interval.
//!
//! A worker acquires the permit for a call before the timeout of the call begins. The wait for the permit is therefore
//! not part of the timeout. Calls cannot wait for each other in a cycle, because a call that waits for a permit holds
//! no permit of another operator.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use latchwork_core::model::ids::Operator;
use latchwork_engine::os::Machine;

use crate::config::limits::{OperatorLimit, RateLimit};

/// Limits of all operators of this process.
pub(crate) struct OperatorLimits {
    by_operator: BTreeMap<Operator, Limiter>,
    machine: Machine,
}

struct Limiter {
    semaphore: Option<Arc<Semaphore>>,
    rate_limiter: Option<RateLimiter>,
}

/// Permit to execute one call, released when it is dropped.
pub(crate) struct Permit(#[expect(dead_code, reason = "held for its drop, never read")] Option<OwnedSemaphorePermit>);

impl OperatorLimits {
    pub(crate) fn new(limits: &BTreeMap<Operator, OperatorLimit>, machine: Machine) -> Self {
        let limit = |limit: &OperatorLimit| Limiter {
            semaphore: limit.max_concurrent.map(|n| Arc::new(Semaphore::new(n as usize))),
            rate_limiter: limit.rate.map(RateLimiter::new),
        };
        Self { by_operator: limits.iter().map(|(operator, of)| (operator.clone(), limit(of))).collect(), machine }
    }

    /// Returns a permit for a call of this operator. Returns `None` if the call may not start now.
    pub(crate) fn try_acquire(&self, operator: &Operator) -> Option<Permit> {
        let Some(limit) = self.by_operator.get(operator) else { return Some(Permit(None)) };
        let permit = match &limit.semaphore {
            Some(at_once) => Some(at_once.clone().try_acquire_owned().ok()?),
            None => None,
        };
        if let Some(pace) = &limit.rate_limiter {
            pace.try_start(self.machine.boot_us()).ok()?;
        }
        Some(Permit(permit))
    }

    /// Waits for a permit for a call of this operator.
    pub(crate) async fn acquire(&self, operator: &Operator) -> Permit {
        let Some(limit) = self.by_operator.get(operator) else { return Permit(None) };
        let permit = match &limit.semaphore {
            Some(at_once) => Some(at_once.clone().acquire_owned().await.expect("the semaphore is never closed")),
            None => None,
        };
        if let Some(pace) = &limit.rate_limiter {
            while let Err(wait_us) = pace.try_start(self.machine.boot_us()) {
                tokio::time::sleep(Duration::from_micros(wait_us)).await;
            }
        }
        Permit(permit)
    }
}

/// Rate limiter using the generic cell rate algorithm (ITU-T I.371). It allows a burst of
/// `RateLimit::permits` calls. After the burst, calls start at an even rate.
struct RateLimiter {
    /// Interval between two calls at the even rate, in microseconds.
    emission_interval_us: u64,
    /// Time by which a burst may run ahead of the even rate, in microseconds.
    burst_tolerance_us: u64,
    /// Boot-clock time at which the next call is due at the even rate, in microseconds.
    next_due_us: Mutex<u64>,
}

impl RateLimiter {
    fn new(rate: RateLimit) -> Self {
        let per_us = u64::from(rate.per_ms) * 1_000;
        let every_us = per_us.div_ceil(u64::from(rate.permits)).max(1);
        Self {
            emission_interval_us: every_us,
            burst_tolerance_us: every_us * u64::from(rate.permits - 1),
            next_due_us: Mutex::new(0),
        }
    }

    /// Starts a call at `now_us`, or returns the number of microseconds until a call may start.
    fn try_start(&self, now_us: u64) -> Result<(), u64> {
        let mut due_us = self.next_due_us.lock().unwrap_or_else(PoisonError::into_inner);
        let due = (*due_us).max(now_us);
        match due.checked_sub(now_us + self.burst_tolerance_us) {
            Some(wait_us) if wait_us > 0 => Err(wait_us),
            _ => {
                *due_us = due + self.emission_interval_us;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn granted(rate: RateLimit, asked_us: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let pace = RateLimiter::new(rate);
        asked_us.into_iter().filter(|now_us| pace.try_start(*now_us).is_ok()).collect()
    }

    #[test]
    fn rate_limiter_allows_burst_then_even_rate() {
        let rate = RateLimit { permits: 3, per_ms: 300 };
        let asked = (0..1_000).map(|ms| 1_000_000 + ms * 1_000);
        let taken: Vec<u64> = granted(rate, asked).into_iter().map(|us| us / 1_000 - 1_000).collect();
        assert_eq!(taken, [0, 1, 2, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
    }

    #[test]
    fn call_may_start_after_returned_wait() {
        let pace = RateLimiter::new(RateLimit { permits: 2, per_ms: 7 });
        let mut now_us = 5;
        for _ in 0..100 {
            if let Err(wait_us) = pace.try_start(now_us) {
                assert!(wait_us > 0 && wait_us <= 7_000);
                assert!(pace.try_start(now_us + wait_us - 1).is_err());
                now_us += wait_us;
                assert_eq!(pace.try_start(now_us), Ok(()));
            }
        }
    }

    proptest! {
        /// I96: no time interval contains more starts than one burst plus the even rate.
        #[test]
        fn no_interval_exceeds_burst_plus_rate(
            times in 1..20u32, per_ms in 1..500u32, steps in prop::collection::vec(0..20_000u64, 1..300),
        ) {
            let mut now_us = 0;
            let asked: Vec<u64> = steps.iter().map(|step| { now_us += step; now_us }).collect();
            let taken = granted(RateLimit { permits: times, per_ms }, asked);
            let every_us = (u64::from(per_ms) * 1_000).div_ceil(u64::from(times));
            for (index, from) in taken.iter().enumerate() {
                for (count, to) in taken[index..].iter().enumerate() {
                    prop_assert!(count as u64 <= u64::from(times) - 1 + (to - from) / every_us + 1);
                }
            }
        }
    }

    #[tokio::test]
    async fn concurrency_limit_blocks_further_calls() {
        let operator = Operator::new("Mail.Send");
        let limit = OperatorLimit { max_concurrent: Some(2), rate: None };
        let limits = OperatorLimits::new(&[(operator.clone(), limit)].into(), Machine::system());
        let first = limits.acquire(&operator).await;
        let _second = limits.try_acquire(&operator).expect("two at once");
        assert!(limits.try_acquire(&operator).is_none());
        assert!(limits.try_acquire(&Operator::new("Mail.Read")).is_some(), "other operators have no limit");
        drop(first);
        assert!(limits.try_acquire(&operator).is_some());
    }
}
