//! Counts faults, recoveries and other occurrences over all seeds, for the coverage check.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// Number of occurrences by name.
#[derive(Default)]
pub(crate) struct EventCounts(Mutex<BTreeMap<String, u64>>);

impl EventCounts {
    pub(crate) fn count(&self, what: impl Into<String>) {
        *self.0.lock().expect("no holder panics").entry(what.into()).or_default() += 1;
    }

    pub(crate) fn add(&self, other: &EventCounts) {
        let other = other.0.lock().expect("no holder panics").clone();
        let mut sums = self.0.lock().expect("no holder panics");
        for (what, times) in other {
            *sums.entry(what).or_default() += times;
        }
    }

    pub(crate) fn count_of(&self, what: &str) -> u64 {
        self.0.lock().expect("no holder panics").get(what).copied().unwrap_or(0)
    }

    pub(crate) fn lines(&self) -> String {
        let sums = self.0.lock().expect("no holder panics");
        sums.iter().map(|(what, times)| format!("{times:>9}  {what}\n")).collect()
    }
}
