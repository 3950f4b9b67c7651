//! Limits per operator in this process: concurrent calls and calls per interval.
//!
//! A permit is acquired before a call's barrier is written, because the call's timeout counts from the barrier.
//! A waiting call holds no permit, so calls cannot wait for each other in a cycle.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use latchwork_core::ids::Operator;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::os::Machine;

/// Limits of one operator in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorLimit {
    /// Maximum number of calls in flight.
    pub at_once: Option<u32>,
    /// Maximum number of calls started per interval.
    pub rate: Option<Rate>,
}

/// At most `times` calls per `per_ms` milliseconds. All of them may start in a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Number of calls; at least 1.
    pub times: u32,
    /// Length of the interval in milliseconds; at least 1.
    pub per_ms: u32,
}

/// Limits of all operators of this process.
pub(super) struct Limits {
    of: BTreeMap<Operator, Limit>,
    machine: Arc<dyn Machine>,
}

struct Limit {
    at_once: Option<Arc<Semaphore>>,
    pace: Option<Pace>,
}

/// Permit to execute one call, released when it is dropped.
pub(super) struct Leave(#[expect(dead_code, reason = "held for its drop, never read")] Option<OwnedSemaphorePermit>);

impl Limits {
    pub(super) fn new(limits: &BTreeMap<Operator, OperatorLimit>, machine: Arc<dyn Machine>) -> Self {
        let limit = |limit: &OperatorLimit| Limit {
            at_once: limit.at_once.map(|n| Arc::new(Semaphore::new(n as usize))),
            pace: limit.rate.map(Pace::new),
        };
        Self { of: limits.iter().map(|(operator, of)| (operator.clone(), limit(of))).collect(), machine }
    }

    /// Returns a permit for a call of this operator if it may start now.
    pub(super) fn leave_now(&self, operator: &Operator) -> Option<Leave> {
        let Some(limit) = self.of.get(operator) else { return Some(Leave(None)) };
        let permit = match &limit.at_once {
            Some(at_once) => Some(at_once.clone().try_acquire_owned().ok()?),
            None => None,
        };
        if let Some(pace) = &limit.pace {
            pace.take(self.machine.boot_us()).ok()?;
        }
        Some(Leave(permit))
    }

    /// Waits for a permit for a call of this operator.
    pub(super) async fn leave(&self, operator: &Operator) -> Leave {
        let Some(limit) = self.of.get(operator) else { return Leave(None) };
        let permit = match &limit.at_once {
            Some(at_once) => Some(at_once.clone().acquire_owned().await.expect("the semaphore is never closed")),
            None => None,
        };
        if let Some(pace) = &limit.pace {
            while let Err(wait_us) = pace.take(self.machine.boot_us()) {
                tokio::time::sleep(Duration::from_micros(wait_us)).await;
            }
        }
        Leave(permit)
    }
}

/// Rate limiter using the generic cell rate algorithm (ITU-T I.371). It allows a burst of `Rate::times` calls
/// and an even rate after that.
struct Pace {
    /// Interval between two calls at the even rate, in microseconds.
    every_us: u64,
    /// Time by which a burst may run ahead of the even rate, in microseconds.
    ahead_us: u64,
    /// Time at which the next call is due at the even rate. Boot-time clock, in microseconds.
    due_us: Mutex<u64>,
}

impl Pace {
    fn new(rate: Rate) -> Self {
        let per_us = u64::from(rate.per_ms) * 1_000;
        let every_us = per_us.div_ceil(u64::from(rate.times)).max(1);
        Self { every_us, ahead_us: every_us * u64::from(rate.times - 1), due_us: Mutex::new(0) }
    }

    /// Starts a call at `now_us`, or returns the number of microseconds until a call may start.
    fn take(&self, now_us: u64) -> Result<(), u64> {
        let mut due_us = self.due_us.lock().unwrap_or_else(PoisonError::into_inner);
        let due = (*due_us).max(now_us);
        match due.checked_sub(now_us + self.ahead_us) {
            Some(wait_us) if wait_us > 0 => Err(wait_us),
            _ => {
                *due_us = due + self.every_us;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::os::ThisMachine;

    fn taken(rate: Rate, asked_us: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let pace = Pace::new(rate);
        asked_us.into_iter().filter(|now_us| pace.take(*now_us).is_ok()).collect()
    }

    #[test]
    fn a_burst_then_the_even_pace() {
        let rate = Rate { times: 3, per_ms: 300 };
        let asked = (0..1_000).map(|ms| 1_000_000 + ms * 1_000);
        let taken: Vec<u64> = taken(rate, asked).into_iter().map(|us| us / 1_000 - 1_000).collect();
        assert_eq!(taken, [0, 1, 2, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
    }

    #[test]
    fn who_waits_as_long_as_told_may_begin() {
        let pace = Pace::new(Rate { times: 2, per_ms: 7 });
        let mut now_us = 5;
        for _ in 0..100 {
            if let Err(wait_us) = pace.take(now_us) {
                assert!(wait_us > 0 && wait_us <= 7_000);
                assert!(pace.take(now_us + wait_us - 1).is_err());
                now_us += wait_us;
                assert_eq!(pace.take(now_us), Ok(()));
            }
        }
    }

    proptest! {
        /// I96: no time interval contains more starts than one burst plus the even rate.
        #[test]
        fn no_stretch_of_time_sees_more(
            times in 1..20u32, per_ms in 1..500u32, steps in prop::collection::vec(0..20_000u64, 1..300),
        ) {
            let mut now_us = 0;
            let asked: Vec<u64> = steps.iter().map(|step| { now_us += step; now_us }).collect();
            let taken = taken(Rate { times, per_ms }, asked);
            let every_us = (u64::from(per_ms) * 1_000).div_ceil(u64::from(times));
            for (index, from) in taken.iter().enumerate() {
                for (count, to) in taken[index..].iter().enumerate() {
                    prop_assert!(count as u64 <= u64::from(times) - 1 + (to - from) / every_us + 1);
                }
            }
        }
    }

    #[tokio::test]
    async fn so_many_at_once_and_no_more() {
        let operator = Operator::new("Mail.Send");
        let limit = OperatorLimit { at_once: Some(2), rate: None };
        let limits = Limits::new(&[(operator.clone(), limit)].into(), Arc::new(ThisMachine));
        let first = limits.leave(&operator).await;
        let _second = limits.leave_now(&operator).expect("two at once");
        assert!(limits.leave_now(&operator).is_none());
        assert!(limits.leave_now(&Operator::new("Mail.Read")).is_some(), "other operators have no limit");
        drop(first);
        assert!(limits.leave_now(&operator).is_some());
    }
}
