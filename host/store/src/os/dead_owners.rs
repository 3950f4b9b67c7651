//! Times at which dead owners were found.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use latchwork_core::storage::Owner;

/// Time at which each owner was first found dead, on the lease clock. The key is the content of the owner's
/// lock file.
#[derive(Debug, Default)]
pub(crate) struct DeadOwners(Mutex<BTreeMap<String, i64>>);

impl DeadOwners {
    /// Returns the time at which the owner was first found dead. For an owner that is found dead now, this time is
    /// `now_us`.
    pub(crate) fn first_seen(&self, owner: &Owner, now_us: i64) -> i64 {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *seen.entry(owner.lock_content.clone()).or_insert(now_us)
    }
}
