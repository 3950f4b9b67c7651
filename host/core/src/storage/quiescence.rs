//! Quiescence (§5): proof that the owner of an open try can no longer touch the outside world. The owner is the process
//! that started the try. This module does the arithmetic for every store.
//!
//! All times are microseconds of the lease clock ([`crate::storage::Clock::boot_us`]).

use crate::rules::ledger::Quiescence;

/// Facts that a store collects about the owner of an open try.
#[derive(Clone, Copy, Debug)]
pub struct OwnerFacts {
    /// Current lease clock time in microseconds.
    pub now_us: i64,
    /// True if the owner ran under the current boot id. If false, the owner died before the current boot, which began
    /// at lease clock time 0. The deadline was then measured with the clock of an earlier boot, and is ignored.
    pub same_boot: bool,
    /// Time at which the open try ends at the latest.
    pub deadline_us: i64,
    /// Clock margin, in milliseconds: the tolerated difference between clocks. The deadline counts as passed only after
    /// this additional time.
    pub margin_ms: u32,
    /// Time at which the owner's lock was first seen to be free.
    pub owner_dead_us: Option<i64>,
    /// Settling time: time after a call during which its effect may still appear, in milliseconds.
    pub settling_ms: u32,
}

/// Returns `Quiescent` once the settling time has passed since the proof that the owner no longer executes the call.
///
/// If the owner ran under another boot id, the time of the proof is the start of the current boot. Otherwise it is the
/// earlier of two times:
/// - the deadline plus the clock margin,
/// - the time at which the owner's lock was first seen to be free.
pub fn assess(evidence: &OwnerFacts) -> Quiescence {
    let us = |ms: u32| i64::from(ms) * 1000;
    let proof = if evidence.same_boot {
        let deadline = evidence.deadline_us.saturating_add(us(evidence.margin_ms));
        evidence.owner_dead_us.map_or(deadline, |gone| gone.min(deadline))
    } else {
        0
    };
    let rest = proof.saturating_add(us(evidence.settling_ms)).saturating_sub(evidence.now_us);
    if rest <= 0 {
        return Quiescence::Quiescent;
    }
    // Milliseconds are rounded up. After a wait that is rounded down, the owner would not be quiescent yet.
    Quiescence::After { wait_ms: u32::try_from((rest - 1) / 1000 + 1).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: OwnerFacts = OwnerFacts {
        now_us: 10_000_000,
        same_boot: true,
        deadline_us: 20_000_000,
        margin_ms: 2000,
        owner_dead_us: None,
        settling_ms: 500,
    };

    #[test]
    fn deadline_includes_margin_and_settling_time() {
        assert_eq!(assess(&BASE), Quiescence::After { wait_ms: 12_500 });
        assert_eq!(assess(&OwnerFacts { now_us: 22_499_999, ..BASE }), Quiescence::After { wait_ms: 1 });
        assert_eq!(assess(&OwnerFacts { now_us: 22_500_000, ..BASE }), Quiescence::Quiescent);
    }

    #[test]
    fn free_lock_proves_quiescence_no_later_than_the_deadline() {
        let seen = OwnerFacts { owner_dead_us: Some(9_700_000), ..BASE };
        assert_eq!(assess(&seen), Quiescence::After { wait_ms: 200 });
        assert_eq!(assess(&OwnerFacts { now_us: 10_200_000, ..seen }), Quiescence::Quiescent);
        let late = OwnerFacts { now_us: 30_000_000, owner_dead_us: Some(30_000_000), ..BASE };
        assert_eq!(assess(&late), Quiescence::Quiescent);
    }

    #[test]
    fn other_boot_proves_quiescence_from_its_start() {
        let after = OwnerFacts { same_boot: false, deadline_us: i64::MAX, now_us: 300_000, ..BASE };
        assert_eq!(assess(&after), Quiescence::After { wait_ms: 200 });
        assert_eq!(assess(&OwnerFacts { now_us: 500_000, ..after }), Quiescence::Quiescent);
    }
}
